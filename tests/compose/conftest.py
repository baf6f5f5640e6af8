"""A real engine for every test here: none means skipped with the reason, and failed where LABCTL_REQUIRE_ENGINE=1."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.project import Project

ROOT = Path(__file__).resolve().parents[2]


def _why_no_engine() -> str | None:
    if not shutil.which("docker"):
        return "no container engine: docker is not installed"
    done = subprocess.run(["docker", "version"], capture_output=True, text=True, check=False, timeout=30)
    if done.returncode:
        return f"no container engine: {(done.stderr.strip().splitlines() or ['docker version failed'])[-1]}"
    return None


@pytest.fixture(scope="session")
def engine() -> str:
    """The engine's version."""
    reason = _why_no_engine()
    if reason and os.environ.get("LABCTL_REQUIRE_ENGINE") == "1":
        pytest.fail(f"{reason}, and LABCTL_REQUIRE_ENGINE=1", pytrace=False)
    if reason:
        pytest.skip(reason)
    ask = ["docker", "version", "--format", "{{.Server.Version}}"]
    return subprocess.run(ask, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


@pytest.fixture(scope="session")
def images(engine: str) -> Path:
    """The checkout whose images `make setup` built; without them a test fails, since an engine is there."""
    if not (ROOT / ".env").is_file():
        pytest.fail("an engine answers, but there are no images; next: make setup", pytrace=False)
    return ROOT


@pytest.fixture
def project(images: Path) -> Iterator[Project]:
    """compose.yaml of this checkout as a project of its own, gone after the test."""
    with Project(images) as project:
        yield project
