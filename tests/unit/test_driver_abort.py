"""What is left of a run that ends early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver.abort import leave_unsealed
from driver.interrupts import Interrupted
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory


def test_an_error_before_the_first_attempt_leaves_nothing_behind(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, run_id="run-1")
    with pytest.raises(LabError), leave_unsealed(run, planned=3, redactor=Redactor({})):
        raise LabError(ErrorCode.STACK_UNHEALTHY, "no")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_after_the_first_attempt_keeps_the_evidence_and_says_where(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, run_id="run-1")
    with pytest.raises(Interrupted) as caught, leave_unsealed(run, planned=3, redactor=Redactor({})) as reached:
        reached.attempts_began = True
        raise Interrupted(Exit.INTERRUPTED, "interrupted")
    abort = json.loads((tmp_path / "run-1" / "abort.json").read_text())
    assert (abort["reason"], abort["plannedCases"]) == ("interrupted", 3)
    assert not (tmp_path / "run-1" / "COMPLETE").exists()
    assert "run-1" in str(caught.value)


def test_a_signal_after_the_seal_leaves_the_run_as_it_was_sealed(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, run_id="run-1")
    with pytest.raises(Interrupted) as caught, leave_unsealed(run, planned=3, redactor=Redactor({})) as reached:
        reached.attempts_began = True
        (run.path / "COMPLETE").write_text("sealed")
        raise Interrupted(Exit.TERMINATED, "terminated")
    assert not (tmp_path / "run-1" / "abort.json").exists()
    assert "(sealed)" in str(caught.value)


def test_why_a_run_was_aborted_is_told_without_its_secrets(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, run_id="run-1")
    redactor = Redactor({"TOKEN": "of-the-test-0123"})
    with pytest.raises(LabError), leave_unsealed(run, planned=3, redactor=redactor) as reached:
        reached.attempts_began = True
        raise LabError(ErrorCode.ENGINE_FAILED, "it said of-the-test-0123")
    assert json.loads((tmp_path / "run-1" / "abort.json").read_text())["reason"] == "it said [redacted:TOKEN]"
