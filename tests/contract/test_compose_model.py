"""What Compose makes of compose.yaml with the profiles fault and observe together; its client is enough, no engine."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from scripts.generate_compose_model import GOLDEN, MODELS, compose_model


@pytest.fixture(scope="module")
def compose_client() -> None:
    reason = None
    if not shutil.which("docker"):
        reason = "no Compose: docker is not installed"
    elif subprocess.run(["docker", "compose", "version"], capture_output=True, check=False, timeout=30).returncode:
        reason = "no Compose: docker has no plugin of that name"
    if reason and os.environ.get("LABCTL_REQUIRE_ENGINE") == "1":
        pytest.fail(f"{reason}, and LABCTL_REQUIRE_ENGINE=1", pytrace=False)
    if reason:
        pytest.skip(reason)


@pytest.mark.usefixtures("compose_client")
@pytest.mark.parametrize("name", MODELS)
def test_the_merged_model_of_both_profiles_is_the_one_that_was_agreed_on(name: str) -> None:
    agreed = (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
    assert compose_model(name) == agreed, "if that is meant: python -m scripts.generate_compose_model"
