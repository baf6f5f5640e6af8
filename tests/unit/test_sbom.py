"""SBOMs: what is read out of an image, and what is written of it."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import pytest

from scripts.cyclonedx import Image, sbom
from scripts.go_build_info import GoModule, GoProgram, go_program
from scripts.image_parts import DebianPackage, ImageParts, PythonPackage, read_parts
from scripts.sbom import locked_hashes, unlocked

IMAGE = Image(name="eval-runner", content="c" * 64, base="b" * 64)
STATUS = """\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12+deb13u1
Description: a library
 Version: of the text, not of the package

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""


def exported(files: dict[str, bytes], *, programs: tuple[str, ...] = ()) -> io.BytesIO:
    """As `docker export` writes it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755 if name in programs else 0o644
            tar.addfile(member, io.BytesIO(content))
    stream.seek(0)
    return stream


def varint(text: bytes) -> bytes:
    length, out = len(text), b""
    while length >= 128:
        out, length = out + bytes([length & 127 | 128]), length >> 7
    return out + bytes([length]) + text


def program(modules: str, *, flags: int = 2) -> bytes:
    """An ELF program with build info as Go 1.18 and newer write it."""
    header = b"\xff Go buildinf:" + bytes([8, flags]) + bytes(16)
    about = b"<" * 16 + modules.encode() + b">" * 16
    return b"\x7fELF" + bytes(60) + header + varint(b"go1.26.0") + varint(about) + bytes(8)


MODULES = """\
path\tx
mod\texample.org/Own\tv1.2.0\th1:own=
dep\ta/b\tv2.0.0
=>\tc/d\tv3.0.0+incompatible\th1:cd=
build\t-x=1
"""
SITE = "opt/lab/lib/python3.13/site-packages"


def test_a_go_program_says_its_modules_and_what_replaces_them() -> None:
    own, replaced = GoModule("example.org/Own", "v1.2.0", "h1:own="), GoModule("c/d", "v3.0.0+incompatible", "h1:cd=")

    assert go_program(program(MODULES)) == GoProgram("go1.26.0", (replaced, own))


def test_other_programs_are_none_and_one_that_does_not_tell_is_refused() -> None:
    assert go_program(b"\x7fELF" + bytes(100)) is None
    assert go_program(b"#!/bin/sh\n\xff Go buildinf:") is None
    for spoilt in (program(MODULES, flags=0), program(MODULES)[:-60], program("")[:-50]):
        with pytest.raises(ValueError, match="the build info"):
            go_program(spoilt)


def test_installed_packages_are_read_and_nothing_else() -> None:
    parts = read_parts(
        exported(
            {
                "var/lib/dpkg/status": STATUS.encode(),
                f"{SITE}/Some_Thing-1.0.dist-info/METADATA": b"Name: Some.Thing\nVersion: 1.0\n\nName: x\n",
                "opt/lab/app/site-packages.txt": b"Name: no\n",
                "server": program(MODULES),
                "data": program(MODULES),
            },
            programs=("server",),
        )
    )

    assert parts.debian == [DebianPackage("libc6", "2.41-12+deb13u1", "amd64")]
    assert parts.python == [PythonPackage("some-thing", "1.0", SITE)]
    assert set(parts.go) == {"server"}


def some_parts() -> ImageParts:
    parts = ImageParts(debian=[DebianPackage("libc6", "1:2.41+x", "amd64")])
    parts.python = [
        PythonPackage("one", "1.0", "opt/lab/site-packages"),
        PythonPackage("two", "2", "usr/dist-packages"),
    ]
    found = go_program(program(MODULES))
    assert found
    parts.go = {"toxiproxy": found, "toxiproxy-cli": found}
    return parts


def by_ref(document: bytes) -> dict[str, Any]:
    return {one["bom-ref"]: one for one in json.loads(document)["components"]}


def test_every_part_is_a_component_with_its_purl_once() -> None:
    components = by_ref(sbom(IMAGE, some_parts(), locked={"one==1.0": ["f" * 64], "two==3": ["e" * 64]}))

    assert sorted(components) == [
        "pkg:deb/debian/libc6@1:2.41%2Bx?arch=amd64",
        "pkg:golang/c/d@v3.0.0%2Bincompatible",
        "pkg:golang/example.org/own@v1.2.0",
        "pkg:golang/stdlib@1.26.0",
        "pkg:pypi/one@1.0",
        "pkg:pypi/two@2",
    ]
    assert {"name": "labctl:lock:sha256", "value": "f" * 64} in components["pkg:pypi/one@1.0"]["properties"]
    assert [entry["name"] for entry in components["pkg:pypi/two@2"]["properties"]] == ["labctl:folder"]


def test_equal_contents_give_equal_bytes_and_others_another_serial_number() -> None:
    first, other = some_parts(), some_parts()
    other.python.reverse()
    one = sbom(IMAGE, first, locked={})

    assert one == sbom(IMAGE, other, locked={})
    other.python.pop()
    assert json.loads(sbom(IMAGE, other, locked={}))["serialNumber"] != json.loads(one)["serialNumber"]
    assert "timestamp" not in one.decode()


def test_what_is_in_the_labs_environment_and_not_in_the_lock_is_named() -> None:
    parts = some_parts()

    assert unlocked(parts, {"one==1.0": ["f" * 64]}) == []
    assert unlocked(parts, {"one==1.1": ["f" * 64]}) == [parts.python[0]]
    assert unlocked(parts, {"one==1.0": []}) == [parts.python[0]]


def test_a_lock_gives_the_hashes_of_each_pin() -> None:
    locked = locked_hashes("runner/requirements.lock")

    assert len(locked) > 10
    assert all(hashes and all(len(one) == 64 for one in hashes) for hashes in locked.values())
