"""What a reader of compose.yaml, the Dockerfiles and the pins may rely on, without an engine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from driver.image_content import OWN_IMAGES, recipe_sha256

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
DOCKERFILES = sorted(ROOT.glob("*/Dockerfile")) + sorted((ROOT / ".ci").glob("*/Dockerfile"))


def test_compose_fixes_no_name_and_no_port_of_the_host() -> None:
    assert not re.search(
        r"^\s*(container_name|ports|name|network_mode|privileged|cap_add|build):", COMPOSE, re.MULTILINE
    )


def test_every_image_of_compose_comes_from_a_variable() -> None:
    images = re.findall(r"^ +image: (.+)$", COMPOSE, re.MULTILINE)
    assert len(images) == 5
    assert all(image.startswith("${") for image in images)


def test_every_public_image_is_pinned_by_digest() -> None:
    lines = (ROOT / "images.env").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert set(pins) == {"BASE_IMAGE", "TOXIPROXY_IMAGE", "OTELCOL_IMAGE", "DOCKER_AGENT_BASE_IMAGE"}
    for pin in pins.values():
        assert re.fullmatch(r"[a-z0-9./-]+:[a-zA-Z0-9._-]+@sha256:[0-9a-f]{64}", pin), pin


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_dockerfile_needs_no_registry_and_ends_as_a_user_without_rights(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "syntax=" not in text
    sources = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE))
    assert sources <= {"${BASE}", "python", "scratch"}
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["10001:10001"]


@pytest.mark.parametrize("service", OWN_IMAGES)
def test_the_content_digest_reads_what_the_dockerfile_copies(service: str) -> None:
    image = OWN_IMAGES[service]
    text = (ROOT / image.folder / "Dockerfile").read_text(encoding="utf-8")
    copied = set(re.findall(r"^COPY (?!--from)(?:--chmod=\d+ )?(\S+) ", text, re.MULTILINE))
    read = set(image.reads)
    assert copied - {image.lock} == read - {f"{image.folder}/Dockerfile"}
    assert image.lock is None or image.lock in copied
    assert {image.folder, f"{image.folder}/Dockerfile"} & read


def test_the_build_context_holds_the_packages_of_the_images_only() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    assert "*" in lines
    assert kept == {name.split("/")[0] for image in OWN_IMAGES.values() for name in image.reads}


@pytest.mark.parametrize("image", ["base", "toxiproxy", "otelcol"])
def test_the_driver_and_the_script_that_makes_an_image_agree_on_its_recipe(image: str) -> None:
    function = re.search(
        r"^digest\(\).*\n^recipe\(\).*$", (ROOT / ".ci/images").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert function
    script = f"set -euo pipefail; here={ROOT / '.ci'}\n{function.group()}\nrecipe {image}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == recipe_sha256(ROOT, image=image)


def test_every_lock_fits_its_input() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/lock_requirements.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
