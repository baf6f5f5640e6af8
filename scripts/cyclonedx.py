"""Writes what an image consists of as a CycloneDX 1.6 document; equal contents give equal bytes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from driver.version import VERSION
from scripts.image_parts import DebianPackage, ImageParts

Component = dict[str, Any]


@dataclass(frozen=True)
class Image:
    """What an SBOM is about."""

    name: str
    """`base`, `toxiproxy`, `otelcol` or the service of an own image."""
    content: str
    """Its content digest, 64 hex digits: two builds of one content have two ids, and one SBOM."""
    base: str | None
    """The content digest of the base it was built from, or the manifest digest of one that was pulled."""


def sbom(image: Image, parts: ImageParts, *, locked: Mapping[str, Sequence[str]]) -> bytes:
    """The document; `locked`: `NAME==VERSION` to the sha256 of the files that the lock lets it be installed from."""
    components = sorted(_components(parts, locked), key=lambda one: str(one["bom-ref"]))
    ref = f"image:{image.name}"
    about: Component = {
        "type": "container",
        "bom-ref": ref,
        "name": f"labctl/{image.name}",
        "version": image.content[:12],
        "properties": [{"name": "labctl:content", "value": image.content}],
    }
    if image.base:
        about["pedigree"] = {"ancestors": [{"type": "container", "name": "base image", "version": image.base}]}
    document: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "labctl", "version": VERSION}]},
            "component": about,
        },
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": [one["bom-ref"] for one in components]}],
    }
    # no clock and no chance: the number is that of the content
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True)).urn
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def _components(parts: ImageParts, locked: Mapping[str, Sequence[str]]) -> Iterator[Component]:
    for package in parts.debian:
        yield _debian(package)
    yield from _python(parts, locked)
    yield from _go(parts)


def _python(parts: ImageParts, locked: Mapping[str, Sequence[str]]) -> Iterator[Component]:
    """Each version once, with the folders that it is in."""
    found: dict[str, Component] = {}
    for package in sorted(parts.python):
        ref = f"pkg:pypi/{package.name}@{_encoded(package.version)}"
        sums = sorted(locked.get(f"{package.name}=={package.version}", ()))
        properties = [{"name": "labctl:lock:sha256", "value": one} for one in sums]
        one = found.setdefault(ref, _library(ref, package.name, package.version, properties))
        one.setdefault("properties", []).append({"name": "labctl:folder", "value": f"/{package.folder}"})
    yield from found.values()


def _debian(package: DebianPackage) -> Component:
    ref = f"pkg:deb/debian/{_encoded(package.name)}@{_encoded(package.version)}?arch={package.architecture}"
    return _library(ref, package.name, package.version, [])


def _go(parts: ImageParts) -> Iterator[Component]:
    """Each module once, with the programs that it is in; the standard library is the toolchain's."""
    found: dict[str, Component] = {}
    for path, program in sorted(parts.go.items()):
        modules = [(one.path, one.version, one.sum) for one in program.modules]
        for name, version, checksum in [*modules, ("stdlib", program.go.removeprefix("go"), None)]:
            ref = f"pkg:golang/{quote(name.lower(), safe='/~.-_')}@{_encoded(version)}"
            sums = [{"name": "labctl:go:sum", "value": checksum}] if checksum else []
            one = found.setdefault(ref, _library(ref, name, version, sums))
            one.setdefault("properties", []).append({"name": "labctl:go:program", "value": f"/{path}"})
    yield from found.values()


def _library(purl: str, name: str, version: str, properties: list[dict[str, str]]) -> Component:
    component: Component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**component, "properties": properties} if properties else component


def _encoded(text: str) -> str:
    return quote(text, safe=":~.-_")
