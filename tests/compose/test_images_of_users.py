"""Attempts in images of users: one that is empty, one without Python, one for one case, and one that is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compose.engine_calls import docker
from tests.compose.launching import Labctl, labctl_of_checkout, told
from tests.compose.small_images import image_of, shell_folder, static_agent
from tests.fakes.suite_folder import SuiteFolder

pytestmark = pytest.mark.engine

SAYS = """\
echo '{"type": "message", "text": "the answer"}'
"""


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("labctl"))


@pytest.fixture(scope="module")
def empty(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with image_of(tmp_path_factory.mktemp("empty")) as name:
        yield name


@pytest.fixture(scope="module")
def shell(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with image_of(shell_folder(tmp_path_factory.mktemp("shell"))) as name:
        yield name


def suite_of(root: Path, command: str, *, cases: list[dict[str, Any]], agent: str = "") -> Path:
    settings = f'[agents.small]\nadapter = "command"\ncommand = {command}\n{agent}\n[limits]\nseconds = 60\n'
    expect = {"assertions": [{"type": "contains", "value": "the answer"}]}
    given = [{"input": "hello", "expect": expect, **case} for case in cases]
    return SuiteFolder(root, settings=settings, cases=given, texts={"agents/say.sh": SAYS}).write()


def test_an_empty_image_runs_an_agent_that_needs_nothing(labctl: Labctl, empty: str, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", '["{suite}/agent"]', cases=[{"id": "in-nothing"}, {"id": "once-more"}])
    static_agent(suite / "agent")

    done = labctl.run(str(suite), "--isolation", "container", "--base-image", empty, "--capture", "payloads")

    assert done.exit_code == 0, told(done)
    text = done.attempts["in-nothing"]["texts"][0]
    assert "the answer to in-nothing" in text
    assert "bin" not in text.partition("at ")[2]
    image = done.read("environment.json")["images"]["base"]
    assert (image["reference"], image["imageId"]) == (empty, docker("image", "inspect", "-f", "{{.Id}}", empty))
    assert done.left == {}


def test_an_image_without_python_runs_a_shell_agent_and_its_folders_are_the_agents(
    labctl: Labctl, shell: str, tmp_path: Path
) -> None:
    suite = suite_of(
        tmp_path / "suite", '["sh", "{suite}/agents/say.sh"]', cases=[{"id": "a"}], agent=f'image = "{shell}"'
    )

    done = labctl.run(str(suite), "--isolation", "container")

    assert done.exit_code == 0, told(done)
    assert done.read("plan.json")["images"]["base"]["reference"] == shell


def test_a_case_has_its_own_image_and_the_others_the_flags(
    labctl: Labctl, shell: str, empty: str, tmp_path: Path
) -> None:
    cases = [{"id": "with-shell", "image": shell}, {"id": "without"}]
    suite = suite_of(tmp_path / "suite", '["sh", "{suite}/agents/say.sh"]', cases=cases)

    done = labctl.run(str(suite), "--base-image", empty)

    assert done.verdict("with-shell") == ("pass", None), told(done)
    assert done.verdict("without") == ("unknown", "infrastructure")
    assert set(done.read("plan.json")["images"]) >= {"base", f"base:{shell}"}


def test_an_image_that_is_not_there_is_refused_by_name_before_anything_starts(labctl: Labctl, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", '["sh"]', cases=[{"id": "a", "image": "labctl-test/nowhere:1"}, {"id": "b"}])

    done = labctl.run(str(suite), "--base-image", "labctl-test/gone:2")

    assert done.exit_code == 4
    assert "labctl: image-missing: not on this machine:" in done.stderr
    assert "labctl-test/nowhere:1" in done.stderr
    assert "labctl-test/gone:2" in done.stderr
    assert not done.folder.exists()


def test_a_setup_in_an_image_without_a_shell_is_told_from_an_agent_that_fails(
    labctl: Labctl, empty: str, tmp_path: Path
) -> None:
    suite = suite_of(tmp_path / "suite", '["/agent"]', cases=[{"id": "a", "setup": "true"}])

    done = labctl.run(str(suite), "--base-image", empty)

    assert done.verdict("a") == ("unknown", "setup"), told(done)
    assert f"the image {empty} has no `sh`" in done.attempts["a"]["reason"]
    assert json.loads((done.folder / "results.json").read_text())["summary"]["unknown"] == 1
