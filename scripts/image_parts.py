"""Reads out of an exported image what it consists of: packages of Debian and Python, modules of its Go programs."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import IO

from scripts.go_build_info import GoProgram, go_program

_STATUS = "var/lib/dpkg/status"
_METADATA = re.compile(r"(?P<folder>(?:.+/)?(?:site|dist)-packages)/[^/]+\.dist-info/METADATA")
_SPACES = re.compile(r"[-_.]+")


@dataclass(frozen=True, order=True)
class DebianPackage:
    """One that is installed."""

    name: str
    version: str
    architecture: str


@dataclass(frozen=True, order=True)
class PythonPackage:
    """One that is installed in one folder; a base may bring others than the environment of the lab."""

    name: str
    """Normalised."""
    version: str
    folder: str
    """Relative to the root of the image."""


@dataclass
class ImageParts:
    """Everything in an image that came as a package or module."""

    debian: list[DebianPackage] = field(default_factory=list)
    python: list[PythonPackage] = field(default_factory=list)
    go: dict[str, GoProgram] = field(default_factory=dict)
    """Path of a program to what it was built from."""


def read_parts(stream: IO[bytes]) -> ImageParts:
    """The parts of an image, from the tar stream of `docker export`, read once from its beginning to its end.

    Raises:
        tarfile.TarError: for a stream that is cut or no tar.
        ValueError: for a Go program that does not tell what is in it.

    """
    parts = ImageParts()
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            if member.isfile() and (content := tar.extractfile(member)) is not None:
                _take(parts, member.name.removeprefix("./"), member, content)
    return parts


def _take(parts: ImageParts, path: str, member: tarfile.TarInfo, content: IO[bytes]) -> None:
    if path == _STATUS:
        parts.debian = sorted(_debian(content.read().decode()))
    elif metadata := _METADATA.fullmatch(path):
        about = BytesParser().parsebytes(content.read(), headersonly=True)
        parts.python.append(PythonPackage(normal(str(about["Name"])), str(about["Version"]), metadata["folder"]))
    elif member.mode & 0o111 and (program := go_program(content.read())) is not None:
        parts.go[path] = program


def normal(name: str) -> str:
    """A Python package's name as indexes compare it."""
    return _SPACES.sub("-", name).lower()


def _debian(status: str) -> Iterator[DebianPackage]:
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Status") == "install ok installed":
            yield DebianPackage(fields["Package"], fields["Version"], fields["Architecture"])
