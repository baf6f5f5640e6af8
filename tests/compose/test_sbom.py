"""The SBOM of an image names what the image itself says that it has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from driver.image_content import OWN_IMAGES
from scripts.cyclonedx import Image, sbom
from scripts.outside_images import Docker
from scripts.sbom import locked_hashes, parts_of, unlocked
from tests.compose.test_images import INTERPRETER, image_of

pytestmark = pytest.mark.engine

SAYS = "import importlib.metadata as m; print(*(f\"{d.metadata['Name']}=={d.version}\" for d in m.distributions()))"


def said(image: str, program: str, *arguments: str) -> str:
    command = ["docker", "run", "--rm", "--network=none", "--entrypoint", program, image, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("service", OWN_IMAGES)
def test_the_sbom_lists_what_dpkg_and_python_find_in_the_image(images: Path, service: str) -> None:
    image, lock = image_of(images, service), OWN_IMAGES[service].lock
    parts, locked = parts_of(Docker(), image), locked_hashes(lock) if lock else {}
    document = json.loads(sbom(Image(service, "c" * 64, None), parts, locked=locked))
    listed = {(one["purl"].split("/")[0], one["name"], one["version"]) for one in document["components"]}

    dpkg = said(image, "dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n").splitlines()
    wanted = {("pkg:deb", *line.split()[1:]) for line in dpkg if line.startswith("installed ")}
    assert wanted
    assert {one for one in listed if one[0] == "pkg:deb"} == wanted
    names = said(image, INTERPRETER[service], "-c", SAYS).lower().replace("_", "-").replace(".", "-").split()
    found = {
        f"{name}=={version}".lower().replace("_", "-").replace(".", "-")
        for kind, name, version in listed
        if kind == "pkg:pypi"
    }
    assert set(names) <= found
    assert unlocked(parts, locked) == []
    if lock:
        assert set(names) == found
