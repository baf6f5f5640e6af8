"""Files of a run that somebody changed before its seal: it is not sealed, not gone on with, and not waited for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver import conclusion
from driver.abort import tell_what_is_left
from driver.interrupts import Interrupted
from driver.resume import resume
from driver.unsealed_files import next_step_of
from driver.verify import verify_run
from ledger.grading import grade_run
from tests.fakes.cut_back import cut_back
from tests.fakes.fake_stack import FakeStack
from tests.fakes.written_runs import seal_again, sealed_run
from tests.unit.test_pipeline import request
from tests.unit.test_pipeline import run as run_it
from tests.unit.test_resume import ANEW, SAMPLE, ran

AGAIN = "run the suite again"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = shutil.copytree(SAMPLE, tmp_path / "suite")
    (path / "notes.md").write_text("nobody reads them\n")
    (path / "more.md").write_text("nor those\n")
    return path


@pytest.fixture
def killed(tmp_path: Path, suite: Path) -> Path:
    path = ran(tmp_path, suite)
    cut_back(path, attempts=1)
    return path


def refused(path: Path, **anew: Any) -> LabError:
    with pytest.raises(LabError) as caught:
        resume(
            path,
            anew=replace(ANEW, **anew),
            stack_of=lambda *_: FakeStack(),
            progress=lambda _: lambda _: None,
            tell=print,
        )
    return caught.value


@pytest.mark.parametrize(
    "name",
    ["plan.json", "traces/attempts.jsonl", "journal.jsonl", "run.log", "environment.json", "begun.json", "suite/pipe"],
)
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(killed: Path, name: str) -> None:
    (killed / name).unlink(missing_ok=True)
    os.mkfifo(killed / name)
    error = refused(killed)
    assert (error.code, error.exit_code) == (ErrorCode.NOT_RESUMABLE, Exit.CANNOT_TELL)
    assert f"found: {name}: is a special file" in str(error)
    assert next_step_of(killed) == AGAIN


def test_a_folder_a_link_and_a_file_that_is_gone_are_refused_by_name_at_once(killed: Path) -> None:
    (killed / "run.log").unlink()
    (killed / "suite" / "link").symlink_to(killed / "README.md")
    (killed / "journal.jsonl").unlink()
    (killed / "journal.jsonl").mkdir()
    (killed / "journal.jsonl" / "file").touch()
    text = str(refused(killed))
    assert "found: run.log: is missing" in text
    assert "found: suite/link: is a symbolic link" in text
    assert "found: journal.jsonl: is a folder" in text


def test_a_file_of_the_suite_that_was_added_changed_or_removed_is_refused_by_name(killed: Path) -> None:
    (killed / "suite" / "new.md").write_text("new\n")
    (killed / "suite" / "notes.md").write_text("other\n")
    (killed / "suite" / "more.md").unlink()
    error = refused(killed)
    assert error.code is ErrorCode.NOT_RESUMABLE
    assert "found: suite/new.md: was not there when the run began" in str(error)
    assert "found: suite/notes.md: is not what it was when the run began" in str(error)
    assert "found: suite/more.md: is missing" in str(error)
    assert next_step_of(killed) == AGAIN


def changed_before(step: str, change: Callable[[], object], monkeypatch: pytest.MonkeyPatch, folder: Path) -> LabError:
    whole = getattr(conclusion, step)

    def after_it(*given: Any) -> Any:
        change()
        return whole(*given)

    monkeypatch.setattr(conclusion, step, after_it)
    with pytest.raises(LabError) as caught:
        run_it(FakeStack(), request(folder))
    return caught.value


@pytest.mark.parametrize("step", [grade_run.__name__, "seal"])
@pytest.mark.parametrize("name", ["plan.json", "suite", "run.log", "traces"])
def test_what_is_taken_away_from_a_live_run_leaves_it_unsealed_with_a_next_step_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: str
) -> None:
    gone = tmp_path / "run-1" / name
    error = changed_before(step, lambda: shutil.rmtree(gone) if gone.is_dir() else gone.unlink(), monkeypatch, tmp_path)
    assert (error.code, error.exit_code) == (ErrorCode.WRITE_FAILED, Exit.EVIDENCE)
    assert name in str(error)
    assert error.next_step == AGAIN
    assert not (tmp_path / "run-1" / "COMPLETE").exists()
    with pytest.raises(LabError) as unsealed:
        verify_run(tmp_path / "run-1")
    assert unsealed.value.next_step == AGAIN


def test_a_suite_that_is_changed_while_its_run_is_live_is_not_sealed_as_what_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "run-1" / "suite"
    error = changed_before("grade_run", lambda: (suite / "new.md").write_text("x"), monkeypatch, tmp_path)
    assert error.code is ErrorCode.WRITE_FAILED
    assert "found: suite/new.md: was not there when the run began" in str(error)
    assert "found: suite/new.md: was not there when the run began" in str(
        refused(tmp_path / "run-1", env=("TOKEN=one-value-of-it", "SHORT_KEY=abc"))
    )


def test_a_sealed_run_without_any_suite_is_no_run_of_labctls(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    shutil.rmtree(path / "suite")
    seal_again(path)
    with pytest.raises(LabError) as caught:
        verify_run(path)
    assert caught.value.code is ErrorCode.ALTERED
    assert "found: suite/: is missing; every run has it" in str(caught.value)


def test_a_run_that_was_killed_before_its_plan_is_to_be_run_again(killed: Path) -> None:
    (killed / "plan.json").unlink()
    with pytest.raises(LabError) as caught:
        verify_run(killed)
    assert (caught.value.code, caught.value.next_step) == (ErrorCode.UNSEALED, AGAIN)


def test_a_plan_that_is_gone_from_a_run_that_had_begun_is_no_run_that_lost_nothing(killed: Path) -> None:
    (killed / "plan.json").unlink()
    (killed / "begun.json").write_text("{}")
    assert "found: plan.json: is missing" in str(refused(killed))


def test_the_next_step_of_a_sealed_run_is_a_command_also_where_its_path_has_spaces(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "a b  c")
    assert refused(path).next_step == f"labctl show '{path}', or labctl verify '{path}'"


def test_a_signal_before_anybody_goes_on_says_that_the_run_is_as_it_was(killed: Path) -> None:
    error = Interrupted(Exit.INTERRUPTED, "interrupted")
    tell_what_is_left(error, killed)
    assert error.rest == f"kept: {killed} (unsealed: it is never graded)\nnext: labctl resume {killed}"
    (killed / "COMPLETE").touch()
    sealed = Interrupted(Exit.INTERRUPTED, "interrupted")
    tell_what_is_left(sealed, killed)
    assert not sealed.rest
