"""Failing disks and clocks under the whole pipeline over a fake stack: what is kept and said, and no false seal."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver import clock, conclusion
from driver.doctor import examine
from driver.run_names import latest_run
from driver.verify import verify_run
from ledger.grading import grade_run
from tests.fakes.fake_stack import FakeStack
from tests.fakes.small_disks import small_disk
from tests.unit.test_pipeline import request, run

RUNS = 1000


def write_failure(evidence: Path) -> LabError:
    """How a run there ends: with exit 5, everything kept, and a way to go on."""
    with pytest.raises(LabError) as caught:
        run(FakeStack(), request(evidence))
    error, folder = caught.value, evidence / "run-1"
    assert error.code is ErrorCode.WRITE_FAILED
    assert error.exit_code is Exit.EVIDENCE
    assert str(error.kept).startswith(f"{folder} (unsealed: it is never graded)")
    assert str(error.next_step).endswith(f"labctl resume {folder}")
    assert not (folder / "COMPLETE").exists()
    assert not list(folder.rglob(".labctl-part-*"))
    assert (folder / "traces" / "attempts.jsonl").read_text().count("\n") == 2
    with pytest.raises(LabError) as refused:
        verify_run(folder)
    assert refused.value.code is ErrorCode.UNSEALED
    return error


@pytest.mark.parametrize("step", ["grade_run", "seal"])
def test_a_disk_that_gets_full_at_the_derived_files_or_at_the_seal_leaves_an_unsealed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    whole = getattr(conclusion, step)
    with small_disk(tmp_path / "evidence") as disk:

        def on_a_full_disk(*given: Any) -> Any:
            disk.fill()
            return whole(*given)

        monkeypatch.setattr(conclusion, step, on_a_full_disk)
        error = write_failure(disk.path)
    assert "No space left on device (errno 28)" in str(error)
    assert str(error.next_step).startswith("free space for the evidence folder")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EIO, errno.EDQUOT], ids=lambda code: errno.errorcode[code])
def test_a_write_that_fails_in_the_middle_ends_the_run_with_the_systems_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    write = os.write

    def fails(handle: int, content: bytes) -> int:
        if b'"summary"' in content:  # results.json
            raise OSError(code, os.strerror(code))
        return write(handle, content)

    monkeypatch.setattr(os, "write", fails)
    assert f"{os.strerror(code)} (errno {code})" in str(write_failure(tmp_path))


@pytest.mark.parametrize("step", ["grade_run", "list_run_files", "seal"])
@pytest.mark.parametrize("is_moved", [False, True], ids=["removed", "moved"])
def test_a_run_folder_that_somebody_takes_away_in_the_middle_ends_the_run_and_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, *, is_moved: bool
) -> None:
    whole, folder, elsewhere = getattr(conclusion, step), tmp_path / "evidence" / "run-1", tmp_path / "else where"

    def without_it(*given: Any) -> Any:
        if is_moved:
            folder.rename(elsewhere)
        else:
            shutil.rmtree(folder)
        return whole(*given)

    monkeypatch.setattr(conclusion, step, without_it)
    with pytest.raises(LabError) as caught:
        run(FakeStack(), request(folder.parent))
    error, where = caught.value, f"moved to {elsewhere}" if is_moved else "removed"
    assert (error.code, error.exit_code) == (ErrorCode.WRITE_FAILED, Exit.EVIDENCE)
    assert error.message == f"{folder} was {where} in the middle of its run; nothing more is written"
    assert error.kept == (f"{elsewhere} (unsealed: it is never graded)" if is_moved else "nothing")
    assert error.next_step == (f"labctl resume '{elsewhere}'" if is_moved else "run the suite again")
    assert not folder.exists()


def test_a_file_of_the_run_that_somebody_removes_in_the_middle_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = tmp_path / "run-1" / "traces" / "attempts.jsonl"

    def without_it(*given: Any) -> Any:
        attempts.unlink()
        return grade_run(*given)

    monkeypatch.setattr(conclusion, "grade_run", without_it)
    with pytest.raises(LabError) as caught:
        run(FakeStack(), request(tmp_path))
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert caught.value.message.startswith(f"{attempts} cannot be read any more")


def fsync_that_fails(at: int, calls: list[int]) -> Callable[[int], None]:
    """The call of that number fails as a dying disk does; how many there were is told."""
    fsync = os.fsync

    def flush(handle: int) -> None:
        calls.append(os.fstat(handle).st_ino)
        if len(calls) == at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(handle)

    return flush


def test_a_failed_flush_at_whichever_file_ends_the_run_is_never_tried_again_and_leaves_no_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: list[int] = []
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync_that_fails(-1, whole))
        run(FakeStack(), request(tmp_path / "whole"))
    for at in range(1, len(whole) + 1):
        calls: list[int] = []
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fsync_that_fails(at, calls))
            error = write_failure(tmp_path / f"at-{at}")
        assert "Input/output error (errno 5)" in str(error)
        assert len(calls) == at, "something was flushed after a flush had failed"


def test_a_clock_that_runs_backwards_changes_no_outcome_no_seal_and_no_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = run(FakeStack(), request(tmp_path / "before"))
    hours = iter(range(10_000))
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 9, 1, tzinfo=UTC) - timedelta(hours=next(hours)))
    monkeypatch.setattr(clock, "wall_ns", lambda: 10**18 - next(hours) * 3_600 * 10**9)

    after = run(FakeStack(), replace(request(tmp_path / "after"), baseline=before.path))

    manifest = json.loads((after.path / "environment.json").read_text())
    assert manifest["finishedAt"] < manifest["startedAt"], "what the machine said is kept"
    assert verify_run(after.path).cases == 2
    results = [json.loads((one.path / "results.json").read_text()) for one in (before, after)]
    assert results[0]["cases"] == results[1]["cases"]
    assert after.comparison is not None
    assert after.exit_code is Exit.YES


@pytest.fixture(scope="module")
def a_thousand_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of a job, sealed but for every hundredth; the one that was planned last is not the last by name."""
    evidence = tmp_path_factory.mktemp("evidence")
    made = run(FakeStack(), replace(request(evidence), job="clean")).path
    plan = (made / "plan.json").read_text()
    for number in range(1, RUNS):
        folder = evidence / f"run-{number:04}"
        (folder / "suite").mkdir(parents=True)  # and nothing else that nobody looks at here
        os.link(made / "COMPLETE", folder / "COMPLETE")
        planned_at = "2099-01-01T00:00:00Z" if number == 500 else f"2026-09-01T{number % 7:02}:00:00.000Z"
        (folder / "plan.json").write_text(plan.replace(json.loads(plan)["plannedAt"], planned_at))
        if number % 100 == 1:
            (folder / "COMPLETE").unlink()
    yield evidence
    shutil.rmtree(evidence)


def test_among_a_thousand_runs_the_latest_is_found_and_a_new_one_is_made_and_doctor_counts_the_unsealed(
    a_thousand_runs: Path,
) -> None:
    assert latest_run("clean", evidence=a_thousand_runs) == a_thousand_runs / "run-0500"
    made = run(FakeStack(), replace(request(a_thousand_runs), run_id="run-new", job="clean"))
    assert verify_run(made.path).cases == 2
    (found,) = itertools.islice((one for one in examine(a_thousand_runs) if one.name == "unsealed runs"), 1)
    assert found.error is None
    assert found.text.startswith("10 that nobody writes any more: ")
    assert found.text.endswith(f"; next: labctl resume {a_thousand_runs / 'run-0001'}, or remove it")
