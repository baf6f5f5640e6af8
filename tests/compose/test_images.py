"""What is in the images that this checkout builds, and what is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from driver.image_content import BASE_LABEL, CONTENT_LABEL, OWN_IMAGES, content_sha256
from tests.compose.project import Project

pytestmark = pytest.mark.engine

VARIABLES = {"fixture-api": "FIXTURE_API_IMAGE", "eval-runner": "RUNNER_IMAGE", "agent": "AGENT_IMAGE"}
INTERPRETER = {"fixture-api": "/opt/lab/bin/python", "eval-runner": "/opt/lab/bin/python", "agent": "python3"}
PACKAGES = {
    "fixture-api": {"contracts", "fixture_api"},
    "eval-runner": {"contracts", "ledger", "providers", "runner"},
    "agent": {"agent_host"},
}
ALL = ("contracts", "ledger", "providers", "fixture_api", "runner", "driver", "agent_host", "pip", "click")


def image_of(root: Path, service: str) -> str:
    lines = (root / ".env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)[VARIABLES[service]]


def run_in(root: Path, service: str, *arguments: str) -> str:
    """Standard output of the image's Python; its root can be written, so that only rights keep files as they are."""
    image = image_of(root, service)
    command = ["docker", "run", "--rm", "--network=none", "--entrypoint", INTERPRETER[service], image]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("service", OWN_IMAGES)
def test_an_image_holds_its_own_package_and_contracts_but_never_the_driver(images: Path, service: str) -> None:
    program = "import sys, importlib.util as u; print(*(name for name in sys.argv[1:] if u.find_spec(name)))"
    found = set(run_in(images, service, "-c", program, *ALL).split())
    allowed = {"click"} if service == "fixture-api" else set[str]()  # uvicorn needs it
    assert found - allowed == PACKAGES[service]


@pytest.mark.parametrize("service", ["fixture-api", "eval-runner"])
def test_every_module_of_an_image_can_be_imported_with_its_own_lock(images: Path, service: str) -> None:
    program = (
        "import importlib, pkgutil, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for module in pkgutil.walk_packages(importlib.import_module(name).__path__, name + '.'):\n"
        "        if not module.name.endswith('__main__'):\n"
        "            importlib.import_module(module.name)\n"
        "print('all')\n"
    )
    assert run_in(images, service, "-c", program, *sorted(PACKAGES[service])) == "all\n"


@pytest.mark.parametrize("service", ["fixture-api", "eval-runner"])
def test_nothing_is_compiled_at_run_time(images: Path, service: str) -> None:
    program = (
        "import os, pydantic, argparse, contracts.record as record\n"
        "print([module.__name__ for module in (pydantic, argparse, record)"
        " if not os.path.exists(module.__spec__.cached)])\n"
    )
    assert run_in(images, service, "-c", program) == "[]\n"


@pytest.mark.parametrize("service", OWN_IMAGES)
def test_an_image_runs_as_a_user_without_rights_who_owns_no_file_of_it(images: Path, service: str) -> None:
    program = (
        "import os\n"
        "folders = [path for top in ('/opt/lab', '/usr/local') for path, _, _ in os.walk(top)]\n"
        "print(os.getuid(), [path for path in folders if os.access(path, os.W_OK)])\n"
    )
    assert run_in(images, service, "-c", program) == "10001 []\n"


@pytest.mark.parametrize("service", OWN_IMAGES)
def test_an_image_says_what_it_was_built_from(images: Path, project: Project, service: str) -> None:
    label = '{{index .Config.Labels "%s"}}'
    image = image_of(images, service)
    content, base = (
        project.docker("image", "inspect", "-f", label % name, image).strip() for name in (CONTENT_LABEL, BASE_LABEL)
    )
    assert base
    assert content == content_sha256(images, service=service, base_content=base), "stale; next: make setup"
