"""An engine that dies in the middle, containers that do, and an image that is taken away: sealed, and never a pass."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from driver.verify import verify_run
from tests.compose.engine_calls import containers_of, docker, kill_containers_of
from tests.compose.launching import FinishedRun, Labctl, LiveRun, labctl_of_checkout, told
from tests.compose.small_images import image_of, shell_folder
from tests.compose.small_suites import small_suite, waiting_suite
from tests.fakes.engine_door import EngineDoor, engine_door

pytestmark = pytest.mark.engine

COMPOSE = ("--backend", "compose", "--concurrency", "1")


@pytest.fixture
def labctl(images: Path, tmp_path: Path) -> Labctl:
    return labctl_of_checkout(tmp_path)


def is_in_the_middle(run: LiveRun) -> bool:
    return run.finished_cases() == ["first"] and run.agents_under_way() == ["slow"]


def is_sealed_and_cannot_tell(run: FinishedRun) -> None:
    """`first` passed and is kept, `slow` was under way, and `later` never began."""
    assert run.exit_code == 3, told(run)
    assert verify_run(run.folder).cases == 3
    assert run.verdict("first") == ("pass", None)
    assert run.verdict("slow") == ("unknown", "infrastructure")
    rows = {case["caseId"]: case["outcome"] for case in run.read("results.json")["cases"]}
    assert rows["later"] == "unknown"


@contextmanager
def run_without_engine(labctl: Labctl, folder: Path) -> Iterator[tuple[LiveRun, EngineDoor]]:
    """A run whose engine died in its middle, and all containers with it."""
    suite = waiting_suite(folder / "suite", "first", "slow", "later")
    with (
        engine_door(folder / "engine.sock") as door,
        labctl.started(str(suite), *COMPOSE, env={"DOCKER_HOST": door.host}) as live,
    ):
        live.until(lambda: is_in_the_middle(live))
        door.shut()
        kill_containers_of(live.id)
        yield live, door


def test_an_engine_that_dies_in_the_middle_and_comes_back_leaves_a_sealed_run_that_cannot_tell(
    labctl: Labctl, tmp_path: Path
) -> None:
    with run_without_engine(labctl, tmp_path) as (live, door):
        door.open()
        run = live.wait()
    is_sealed_and_cannot_tell(run)
    assert run.left == {}


def test_an_engine_that_stays_away_is_told_with_the_next_step_and_clean_finishes_the_teardown(
    labctl: Labctl, tmp_path: Path
) -> None:
    with run_without_engine(labctl, tmp_path) as (live, _):
        run = live.wait()
        is_sealed_and_cannot_tell(run)
        assert "the stack could not be taken down: " in run.stderr
        assert "next: labctl clean" in run.stderr
        cleaned = labctl.call("clean")
        assert cleaned.returncode == 0, cleaned.stderr
        assert f"of {run.id}" in cleaned.stdout
        assert live.left() == {}


def test_an_image_that_is_removed_in_the_middle_makes_the_attempts_that_need_it_unknown(
    labctl: Labctl, tmp_path: Path
) -> None:
    with image_of(shell_folder(tmp_path / "shell")) as name:
        cases = [*({"id": one} for one in ("first", "slow", "later")), {"id": "needs-it", "image": name}]
        suite = small_suite(tmp_path / "suite", "waiting", cases=cases)
        with labctl.started(str(suite), *COMPOSE, "--isolation", "container") as live:
            live.until(lambda: is_in_the_middle(live))
            subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True, timeout=60)
            (slow,) = [one for one in containers_of(live.id) if is_of_slow(one)]
            docker("exec", slow, "touch", f"/tmp/go-on-{live.id}")  # noqa: S108 - in the container
            run = live.wait()
    assert run.exit_code == 3, told(run)
    assert verify_run(run.folder).cases == 4
    assert [run.verdict(one) for one in ("first", "slow", "later")] == [("pass", None)] * 3
    assert run.verdict("needs-it") == ("unknown", "infrastructure")
    assert "No such image" in run.attempts["needs-it"]["reason"]
    assert run.left == {}


def is_of_slow(container: str) -> bool:
    """The container of the case that waits."""
    label = docker("inspect", "--format", '{{index .Config.Labels "labctl.attempt"}}', container)
    return label.startswith("slow#")
