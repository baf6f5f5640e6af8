"""What a disk, a clock or a permission does to a run on the process backend: each with its outcome and next step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from driver.verify import verify_run
from tests.compose.launching import FinishedRun, Labctl, LiveRun, labctl_of_checkout, told
from tests.compose.small_suites import waiting_suite
from tests.fakes.small_disks import small_disk

IS_ROOT = os.getuid() == 0
FREE_SPACE = "free space for the evidence folder, or name another one with --evidence"
PROCESS = ("--backend", "process", "--concurrency", "1")


@pytest.fixture
def labctl(tmp_path: Path) -> Labctl:
    return labctl_of_checkout(tmp_path, has_engine=False)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return str(waiting_suite(tmp_path / "suite", "first", "slow", "later"))


def is_in_the_middle(live: LiveRun) -> bool:
    return live.finished_cases() == ["first"] and live.agents_under_way() == ["slow"]


def refused(run: FinishedRun, code: str, *, next_step: str) -> None:
    """Exit 4 before the first attempt, with this reason and this next step, and no trace of the run."""
    assert run.exit_code == 4, told(run)
    assert f"labctl: {code}: " in run.stderr
    assert run.stderr.endswith(f"next: {next_step}\n")
    assert run.stdout == ""
    assert run.left == {}
    assert not run.folder.exists()


@pytest.mark.parametrize("inodes", [1, 3])
def test_a_disk_that_is_full_before_a_run_is_refused_with_the_next_step(
    labctl: Labctl, suite: str, tmp_path: Path, inodes: int
) -> None:
    with small_disk(tmp_path / "evidence", options=f"size=600k,nr_inodes={inodes}"):
        refused(labctl.run(suite, *PROCESS), "evidence-unwritable", next_step=FREE_SPACE)


def test_a_disk_that_gets_full_in_the_middle_keeps_what_finished_and_resume_goes_on_when_there_is_space(
    labctl: Labctl, suite: str, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "evidence") as disk, labctl.started(suite, *PROCESS) as live, go_on_later(live) as later:
        live.until(lambda: is_in_the_middle(live))
        disk.fill()
        later()
        run = live.wait()
        assert run.exit_code == 5, told(run)
        assert "labctl: write-failed: " in run.stderr
        assert "No space left on device (errno 28)" in run.stderr
        assert f"kept: {run.folder} (unsealed: it is never graded), without abort.json" in run.stderr
        assert run.stderr.endswith(f"next: {FREE_SPACE}; then labctl resume {run.folder}\n")
        assert run.left == {}
        assert not run.is_sealed
        assert list(run.attempts)[:1] == ["first"]

        disk.give_back()
        resumed = at_home(labctl, live).call("resume", str(run.folder), "-e", f"LABTEST_RUN={run.id}")
        assert resumed.returncode == 0, resumed.stderr
        assert verify_run(run.folder).cases == 3


@contextmanager
def go_on_later(live: LiveRun) -> Iterator[Callable[[], None]]:
    """What lets the agent of `slow` go on; taken back at the end."""
    sign = Path(f"/tmp/go-on-{live.id}")  # noqa: S108 - where tests.compose.agents.waiting looks
    try:
        yield sign.touch
    finally:
        sign.unlink(missing_ok=True)


def at_home(labctl: Labctl, live: LiveRun) -> Labctl:
    """With the run's own folder for temporary files, so that what is left of it is found."""
    return replace(labctl, environ={**labctl.environ, "TMPDIR": str(live.scratch)})


def test_a_read_only_evidence_folder_is_refused(labctl: Labctl, suite: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "evidence") as disk:
        disk.remount("ro")
        run = labctl.run(suite, *PROCESS)
        refused(run, "evidence-unwritable", next_step="make the folder writable, or name another one with --evidence")
        assert "Read-only file system (errno 30)" in run.stderr
        found = labctl.call("doctor", "--evidence", str(tmp_path / "evidence"))
        assert found.returncode == 4
        assert "problem  evidence folder: " in found.stdout


def test_a_folder_without_permission_is_refused(labctl: Labctl, suite: str, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    if IS_ROOT:  # who has every permission gives up the power, and owns the folder no more
        os.chown(evidence, 12345, 12345)
        powerless = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "env")
        labctl = replace(labctl, argv=(*powerless, *labctl.argv))
        os.chown(suite, 0, 0)
    else:
        evidence.chmod(0o555)
    run = labctl.run(suite, *PROCESS)
    refused(run, "evidence-unwritable", next_step="make the folder writable, or name another one with --evidence")
    assert "Permission denied (errno 13)" in run.stderr


def test_a_disk_cannot_be_set_read_only_under_a_live_run(labctl: Labctl, suite: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "evidence") as disk, labctl.started(suite, *PROCESS) as live, go_on_later(live) as later:
        live.until(lambda: is_in_the_middle(live))
        with pytest.raises(Exception, match="returned non-zero exit status"):
            disk.remount("ro")
        later()
        run = live.wait()
        assert run.exit_code == 0, told(run)
        assert verify_run(run.folder).cases == 3
