#!/usr/bin/env python3
"""Writes a CycloneDX SBOM of each image that was built here, out of the image itself, into .build/sbom."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from driver.image_content import BASE_LABEL, CONTENT_LABEL, IMAGE_LABEL, OWN_IMAGES, content_sha256
from scripts.build_images import ROOT, VARIABLES
from scripts.cyclonedx import Image, sbom
from scripts.image_parts import ImageParts, PythonPackage, normal, read_parts
from scripts.outside_images import BUILD, Docker, LocalImage, read_env

FOLDER = ROOT / BUILD / "sbom"
OUTSIDE = {"toxiproxy": "TOXIPROXY_IMAGE", "otelcol": "OTELCOL_IMAGE"}
OWN_ENVIRONMENT = "opt/lab/"
"""Where an own image has what its lock names, and nothing else."""
_EXPORT_END_S = 30
_LOCKED = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s;\\]+)")
_SHA256 = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def images_built_here(docker: Docker) -> Iterator[tuple[Image, str]]:
    """Each image with its id; one that was pulled is its publisher's to describe. Raises LabError IMAGE_MISSING."""
    env = read_env(ROOT / ".env")
    bases = set()
    for name, variable in {**VARIABLES, **OUTSIDE}.items():
        reference = env.get(variable, "")
        if not reference and name in OUTSIDE:
            say(f"{name}: no such image here")
            continue
        found = docker.inspect(reference) if reference else None
        if found is None:
            raise LabError(ErrorCode.IMAGE_MISSING, f"the image {name} is not on this machine", next_step="make setup")
        bases |= {found.labels[BASE_LABEL]} if name in VARIABLES and BASE_LABEL in found.labels else set()
        yield from _if_built_here(name, found)
    for content in sorted(bases):
        base = docker.inspect(f"labctl/base:{content[:12]}")
        yield from _if_built_here("base", base or LocalImage("", {}))


def _if_built_here(name: str, found: LocalImage) -> Iterator[tuple[Image, str]]:
    # the labels of a base are inherited: only the name says whose the content is
    if found.labels.get(IMAGE_LABEL) != name or CONTENT_LABEL not in found.labels:
        say(f"{name}: was pulled by digest, so its SBOM is its publisher's")
        return
    image = Image(name=name, content=found.labels[CONTENT_LABEL], base=found.labels.get(BASE_LABEL))
    if name in OWN_IMAGES and image.content != content_sha256(ROOT, service=name, base_content=image.base or ""):
        raise LabError(
            ErrorCode.IMAGE_STALE, f"built from other files than this checkout's: {name}", next_step="make setup"
        )
    yield image, found.id


def parts_of(docker: Docker, image_id: str) -> ImageParts:
    """What an image consists of: its files are read, nothing of it is run. Raises LabError ENGINE_FAILED."""
    container = docker.run("create", "--network=none", image_id)
    try:
        with subprocess.Popen(["docker", "export", container], stdout=subprocess.PIPE) as exporting:
            assert exporting.stdout is not None  # noqa: S101 - it is a pipe
            try:
                parts = read_parts(exporting.stdout)
                shutil.copyfileobj(exporting.stdout, _Nowhere())
                status = exporting.wait(_EXPORT_END_S)
            finally:
                exporting.kill()
    except (tarfile.TarError, ValueError) as error:
        raise LabError(ErrorCode.ENGINE_FAILED, f"{image_id} cannot be read", cause=str(error)) from error
    finally:
        docker.run("rm", container)
    if status:
        raise LabError(ErrorCode.ENGINE_FAILED, f"docker export of {image_id} ended with {status}")
    return parts


class _Nowhere:
    """What is left of a tar after its last file is padding; the exporter waits until it is taken."""

    def write(self, content: bytes) -> int:
        return len(content)


def locked_hashes(lock: str) -> dict[str, list[str]]:
    """`NAME==VERSION` to the sha256 of every file that a lock allows for it."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if entry := _LOCKED.match(line):
            current = found.setdefault(f"{normal(entry['name'])}=={entry['version']}", [])
        current += _SHA256.findall(line)
    return found


def unlocked(parts: ImageParts, locked: dict[str, list[str]]) -> list[PythonPackage]:
    """Packages in the lab's own environment that no lock names in that version, with a hash."""
    own = (package for package in parts.python if package.folder.startswith(OWN_ENVIRONMENT))
    return sorted(package for package in own if not locked.get(f"{package.name}=={package.version}"))


def write_sboms(docker: Docker) -> list[Path]:
    """Write them anew; the files. Raises LabError."""
    docker.check()
    documents: dict[str, bytes] = {}
    for image, image_id in images_built_here(docker):
        parts, lock = parts_of(docker, image_id), OWN_IMAGES[image.name].lock if image.name in OWN_IMAGES else None
        locked = locked_hashes(lock) if lock else {}
        if strangers := unlocked(parts, locked):
            raise LabError(
                ErrorCode.IMAGE_STALE,
                f"the image {image.name} has packages that {lock} does not name",
                found=[Found(f"{one.name} {one.version}", place=f"/{one.folder}") for one in strangers],
                next_step="make setup",
            )
        documents[f"{image.name}.cdx.json"] = sbom(image, parts, locked=locked)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name, document in documents.items():
        (FOLDER / name).write_bytes(document)
    return [FOLDER / name for name in sorted(documents)]


def say(text: str) -> None:
    """Progress, for people."""
    print(f"sbom: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Exit 0 and one path a line; else the error's own exit code."""
    try:
        for path in write_sboms(Docker()):
            print(path.relative_to(ROOT))
    except LabError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
