#!/usr/bin/env python3
"""Builds the lab's own images where their content changed, and writes the .env that Compose by hand reads."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the checkout is used as it is, installed or not

from contracts.errors import ErrorCode, LabError  # noqa: E402
from driver.image_content import BASE_LABEL, CONTENT_LABEL, IMAGE_LABEL, OWN_IMAGES, content_sha256  # noqa: E402
from scripts.outside_images import BUILD, Docker, OutsideImage, bounded, resolve, say  # noqa: E402

PYTHON = "3.13"
"""The minor version that the locks and wheels of the images are for."""
CONTAINER_ID = 10001
"""User and group of the containers where the caller is root: they never are."""
VARIABLES = {"fixture-api": "FIXTURE_API_IMAGE", "eval-runner": "RUNNER_IMAGE", "agent": "AGENT_IMAGE"}
NEWEST_GLIBC = 36
"""Minor version of the newest manylinux tag asked for; Debian trixie has 2.41."""
BUILD_SECONDS = 900


def wheel_folder(root: Path, *, service: str, lock: str, machine: str) -> Path:
    """The folder with exactly the wheels of a service's lock, downloaded unless they are there. Raises LabError."""
    folder = root / BUILD / "wheels" / service
    stamp = folder.with_suffix(".stamp")
    wanted = hashlib.sha256(f"{PYTHON} {machine}\n".encode() + (root / lock).read_bytes()).hexdigest()
    if folder.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return folder
    say(f"wheels of {service}")
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    _download(root / lock, folder=folder, machine=machine)
    stamp.write_text(wanted, encoding="utf-8")
    return folder


def _download(lock: Path, *, folder: Path, machine: str) -> None:
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(NEWEST_GLIBC, 4, -1)]
    platforms += [f"manylinux2014_{machine}", f"manylinux1_{machine}", "any"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder), "--requirement", str(lock)]
    command += ["--no-deps", "--require-hashes", "--only-binary=:all:", "--python-version", PYTHON]
    command += ["--implementation", "cp", *(f"--platform={platform}" for platform in platforms)]
    done = bounded(command, timeout=BUILD_SECONDS)
    if done.returncode:
        raise LabError(
            ErrorCode.IMAGE_MISSING,
            f"the packages of {lock.parent.name} could not be downloaded",
            cause=(done.stderr.strip().splitlines() or ["pip said nothing"])[-1],
            next_step="make setup, once pip reaches a package index",
        )


def present(docker: Docker, *, service: str, content: str) -> str | None:
    """The id of a service's image of that content; None when it has to be built."""
    found = docker.inspect(tag_of(service, content))
    return found.id if found and found.labels.get(CONTENT_LABEL) == content else None


def tag_of(service: str, content: str) -> str:
    """The name that an own image goes by beside its id."""
    return f"labctl/{service}:{content[:12]}"


def build_image(docker: Docker, *, service: str, content: str, base: OutsideImage, machine: str) -> str:
    """Build a service's image with BuildKit; its id. Raises LabError with the last lines of the build."""
    image, tag = OWN_IMAGES[service], tag_of(service, content)
    labels = {CONTENT_LABEL: content, BASE_LABEL: base.content, IMAGE_LABEL: service}
    options = [f"--label={name}={value}" for name, value in labels.items()]
    options += ["--provenance=false", "--progress=plain", "--build-arg", f"BASE={base.name}"]
    # the builder of the engine itself: one in a container would not see the base
    options += ["--builder", docker.run("context", "show")]
    if image.lock:
        wheels = wheel_folder(ROOT, service=service, lock=image.lock, machine=machine)
        options += ["--build-context", f"wheels={wheels}"]
    say(f"image {tag}")
    dockerfile = ROOT / image.folder / "Dockerfile"
    docker.run("buildx", "build", *options, "--tag", tag, "--file", str(dockerfile), str(ROOT), timeout=BUILD_SECONDS)
    built = present(docker, service=service, content=content)
    if not built:
        raise LabError(ErrorCode.IMAGE_MISSING, f"{tag} was built, but the engine does not have it")
    return built


def own_images(docker: Docker, *, base: OutsideImage) -> dict[str, str]:
    """Service to image id for this checkout; what is not there is built. Raises LabError."""
    contents = {name: content_sha256(ROOT, service=name, base_content=base.content) for name in OWN_IMAGES}
    images = {name: present(docker, service=name, content=content) for name, content in contents.items()}
    if all(images.values()):
        return {name: id_ for name, id_ in images.items() if id_}
    check_base(docker, base)
    machine = docker.machine()

    def built(service: str) -> str:
        content = contents[service]
        return images[service] or build_image(docker, service=service, content=content, base=base, machine=machine)

    with ThreadPoolExecutor() as pool:  # one waits for the network while another compiles
        return dict(zip(OWN_IMAGES, pool.map(built, OWN_IMAGES), strict=True))


def check_base(docker: Docker, base: OutsideImage) -> None:
    """Refuse a base whose Python is not the one that the wheels are for, or that cannot make an environment."""
    program = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    hint = "set BASE_IMAGE in images.env to a Python 3.13 on Debian trixie, or run .ci/engine"
    found = docker.run("run", "--rm", "--network=none", "--entrypoint=python3", base.name, "-c", program)
    if found != PYTHON:
        raise LabError(
            ErrorCode.IMAGE_MISSING, f"the base image {base.run} has Python {found}", expected=PYTHON, next_step=hint
        )


def by_hand_user() -> tuple[int, int]:
    """User and group of the containers: the caller's, but never root; the folders they write to are made theirs."""
    written = (ROOT / "evidence", ROOT / BUILD / "traces")
    for folder in written:
        folder.mkdir(parents=True, exist_ok=True)
    if os.getuid() != 0:
        return os.getuid(), os.getgid()
    for folder in written:
        os.chown(folder, CONTAINER_ID, CONTAINER_ID)
    return CONTAINER_ID, CONTAINER_ID


def write_env(path: Path, values: dict[str, str]) -> None:
    """Set these variables in a .env, whole or not at all; what the user keeps there besides them stays."""
    header = "# set by make setup; lines of your own below stay as they are"
    old = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    own = [line for line in old if line != header and line.split("=", 1)[0] not in values]
    lines = [header, *(f"{name}={value}" for name, value in values.items()), *own]
    draft = path.with_name(".env.new")
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draft.replace(path)


def toxiproxy_program(docker: Docker, image: OutsideImage) -> None:
    """Take the program out of its image into .build/bin, for the process backend; as it is where it is of that image.

    Raises LabError.
    """
    program = ROOT / BUILD / "bin" / "toxiproxy-server"
    stamp = program.with_suffix(".of")
    if program.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == image.run:
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    draft = program.with_suffix(".new")
    container = docker.run("create", image.run)
    try:
        docker.run("cp", f"{container}:/toxiproxy", str(draft))
    finally:
        docker.run("rm", container)
    draft.replace(program)
    stamp.write_text(image.run, encoding="utf-8")


def build() -> None:
    """Resolve what comes from outside, build what is ours, write .env. Raises LabError."""
    docker = Docker()
    docker.check()
    outside = resolve(ROOT, docker)
    own = own_images(docker, base=outside["base"])
    images = {variable: own[service] for service, variable in VARIABLES.items()}
    images["TOXIPROXY_IMAGE"] = outside["toxiproxy"].run if "toxiproxy" in outside else ""
    images["OTELCOL_IMAGE"] = outside["otelcol"].run if "otelcol" in outside else ""
    if "toxiproxy" in outside:
        toxiproxy_program(docker, outside["toxiproxy"])
    uid, gid = by_hand_user()
    # two checkouts in folders of one name are two projects
    project = f"labctl-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}"
    (ROOT / BUILD / "agent-suite").mkdir(parents=True, exist_ok=True)
    write_env(
        ROOT / ".env",
        {"COMPOSE_PROJECT_NAME": project, **images, "LAB_UID": str(uid), "LAB_GID": str(gid)},
    )


def main() -> int:
    """Exit 0 when every image that a run needs is there, else the error's own exit code.

    No engine is no error, since labctl then uses processes, unless LABCTL_REQUIRE_ENGINE=1.
    """
    try:
        build()
    except LabError as error:
        if error.code is ErrorCode.NO_ENGINE and os.environ.get("LABCTL_REQUIRE_ENGINE") != "1":
            say(f"no images, since {error.message}: labctl uses the process backend ({error.cause})")
            return 0
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
