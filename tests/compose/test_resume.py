"""A Compose run that is killed in the middle: what it left is reaped, and the rest runs on the images of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compose.engine_calls import left_on_engine
from tests.compose.launching import labctl_of_checkout
from tests.fakes.killed_runs import kill_after, left_of, resume
from tests.fakes.sixty_cases import sixty_cases

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("images")]


def test_a_killed_run_is_finished_and_leaves_nothing_also_of_what_the_kill_left(tmp_path: Path) -> None:
    labctl = labctl_of_checkout(tmp_path)
    suite = sixty_cases(tmp_path / "suite", cases=30)
    with labctl.started(str(suite), "--backend", "compose", "--concurrency", "1") as run:
        killed = kill_after(run, attempts=2)
        assert killed is not None
        assert left_on_engine(run.id)["container"]
        refused = labctl.call("resume", str(run.folder))  # without the value of -e
        assert (refused.returncode, refused.stdout) == (3, "")
        resume(labctl, killed)
        assert left_of(killed) == {}
