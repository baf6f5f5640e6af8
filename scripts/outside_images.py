"""Finds the images not built from this checkout: made by .ci/images, else pulled by their pin, else made now."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, LabError
from driver.image_content import CONTENT_LABEL, IMAGE_LABEL, RECIPE_LABEL, recipe_sha256

BUILD = ".build"
PULL_SECONDS = 120
VARIABLES = {"base": "BASE_IMAGE", "toxiproxy": "TOXIPROXY_IMAGE", "otelcol": "OTELCOL_IMAGE"}
"""Folder of the recipe below .ci to the variable in images.env."""
MAKERS = {"base": "mmdebstrap", "toxiproxy": "go", "otelcol": "go"}
"""What .ci/images needs to make each of them."""


def say(text: str) -> None:
    """Progress, for people."""
    print(f"build_images: {text}", file=sys.stderr, flush=True)


def bounded(command: list[str], *, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a command and keep what it says; one that takes longer than `timeout` seconds is ended and has status 124."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer within {timeout:g} s")


@dataclass(frozen=True)
class LocalImage:
    """An image that the engine has."""

    id: str
    labels: dict[str, str]


@dataclass(frozen=True)
class OutsideImage:
    """An image to run or to build on."""

    run: str
    """Image id where it was built here, else name and digest."""
    name: str
    """What `FROM` accepts."""
    content: str
    """Content digest of an image that was built here, else its manifest digest."""


class Docker:
    """The docker client as this script needs it: text out, LabError for every failure, always a time limit."""

    def attempt(self, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run one docker command; the caller looks at its status."""
        try:
            return bounded(["docker", *arguments], timeout=timeout)
        except FileNotFoundError:
            raise LabError(
                ErrorCode.NO_ENGINE, "no engine answers", cause="docker is not installed", next_step=".ci/engine"
            ) from None

    def run(self, *arguments: str, timeout: float = 60) -> str:
        """Standard output of a docker command that has to work; raises LabError with its last lines."""
        done = self.attempt(*arguments, timeout=timeout)
        if done.returncode:
            said = "\n".join(done.stderr.strip().splitlines()[-15:])
            raise LabError(ErrorCode.ENGINE_FAILED, f"docker {arguments[0]} failed", cause=said or "no message")
        return done.stdout.strip()

    def check(self) -> None:
        """Refuse to go on where no engine answers or BuildKit is missing."""
        done = self.attempt("version")
        if done.returncode:
            cause = done.stderr.strip() or "no message"
            raise LabError(ErrorCode.NO_ENGINE, "no engine answers", cause=cause, next_step=".ci/engine")
        if self.attempt("buildx", "version").returncode:
            raise LabError(
                ErrorCode.ENGINE_FAILED,
                "docker has no buildx plug-in",
                next_step=".ci/engine, or install docker-buildx",
            )

    def machine(self) -> str:
        """Architecture of the engine as wheels name it: x86_64 or aarch64."""
        found = self.run("version", "--format", "{{.Server.Arch}}")
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(found, found)

    def inspect(self, name: str) -> LocalImage | None:
        """An image by name or id; None when the engine does not have it."""
        done = self.attempt("image", "inspect", name)
        if done.returncode:
            return None
        found = json.loads(done.stdout)[0]
        return LocalImage(found["Id"], found["Config"].get("Labels") or {})


def resolve(root: Path, docker: Docker) -> dict[str, OutsideImage]:
    """`base`, and what can be had of `toxiproxy` and `otelcol`; the rest is said. Raises LabError without base."""
    images = {name: _made_here(root, docker, name) or _pulled(root, docker, name) for name in VARIABLES}
    missing = [name for name, image in images.items() if not image]
    if missing:
        _make(root, missing)
        images |= {name: _made_here(root, docker, name) for name in missing}
    if not images["base"]:
        raise LabError(
            ErrorCode.IMAGE_MISSING,
            "there is no base image: none was made here, none could be pulled",
            next_step=".ci/engine as root on Debian, or make setup where the engine reaches a registry",
        )
    for name in [name for name, image in images.items() if not image]:
        say(f"warning: no {name} image, so its profile cannot run; next: .ci/images {name}")
    return {name: image for name, image in images.items() if image}


def _made_here(root: Path, docker: Docker, name: str) -> OutsideImage | None:
    # an image inherits the labels of its base: only both together say what it is
    wanted = {IMAGE_LABEL: name, RECIPE_LABEL: recipe_sha256(root, image=name)}
    filters = [f"--filter=label={label}={value}" for label, value in wanted.items()]
    listed = docker.run("image", "ls", "--quiet", "--no-trunc", *filters).splitlines()
    chosen = read_env(root / BUILD / "images.env").get(VARIABLES[name], "")
    for id_ in [chosen, *listed]:
        image = docker.inspect(id_) if id_ else None
        if image and image.labels.items() >= wanted.items():
            return _named(docker, name, run=image.id, content=image.labels[CONTENT_LABEL])
    return None


def _pulled(root: Path, docker: Docker, name: str) -> OutsideImage | None:
    reference = read_env(root / "images.env")[VARIABLES[name]]
    if not docker.inspect(reference):
        say(f"pulling {reference}")
        done = docker.attempt("pull", "--quiet", reference, timeout=PULL_SECONDS)
        if done.returncode:
            say(f"not pulled: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
            return None
    return _named(docker, name, run=reference, content=reference.rpartition("sha256:")[2])


def _named(docker: Docker, name: str, *, run: str, content: str) -> OutsideImage:
    tag = f"labctl/{name}:{content[:12]}"  # BuildKit builds FROM a name, never from an id
    docker.run("tag", run, tag)
    return OutsideImage(run=run, name=tag, content=content)


def _make(root: Path, names: list[str]) -> None:
    search = f"{os.environ.get('PATH', '')}:/usr/local/go/bin"
    able = [name for name in names if shutil.which(MAKERS[name], path=search)]
    if able:
        done = subprocess.run([str(root / ".ci" / "images"), *able], check=False, stdout=sys.stderr)
        if done.returncode:
            say(f".ci/images {' '.join(able)} failed with status {done.returncode}")


def read_env(path: Path) -> dict[str, str]:
    """NAME=value lines of a file; empty when there is no such file."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}
