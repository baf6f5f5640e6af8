"""What is left of a run that ends early."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.plan import Plan
from driver import abort as aborted
from driver.abort import Reached, UnderWay, leave_unsealed
from driver.drafting import draft_run
from driver.interrupts import Interrupted
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory
from tests.unit.test_pipeline import SECRET, request

NOTHING_SECRET = Redactor({})
TWO_LINES = '{"caseId": "a", "repeat": 1}\n{"caseId": "a", "repeat": 1}\n{"caseId": "b", "rep'


def no_registry(reference: str) -> tuple[str, Path]:
    raise AssertionError(reference)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return draft_run(
        request(tmp_path_factory.mktemp("evidence")), backend="process", host_env={}, fetch=no_registry
    ).plan


def new_run(folder: Path, *, plan: Plan, redactor: Redactor) -> AbstractContextManager[tuple[RunDirectory, Reached]]:
    return leave_unsealed(lambda: RunDirectory.create(folder, run_id=plan.run_id), plan=plan, redactor=redactor)


def an_interrupt() -> Interrupted:
    return Interrupted(Exit.INTERRUPTED, "interrupted")


def test_an_error_before_the_first_attempt_leaves_nothing_behind(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(LabError), new_run(tmp_path, plan=plan, redactor=NOTHING_SECRET):
        raise LabError(ErrorCode.STACK_UNHEALTHY, "no")
    assert list(tmp_path.iterdir()) == []


def begin(run: RunDirectory, plan: Plan) -> None:
    run.write_record("plan.json", plan)
    run.write_whole("suite/suite.toml", b"")


def go_half_way(run: RunDirectory, reached: Reached, plan: Plan) -> None:
    begin(run, plan)
    (run.path / "traces" / "attempts.jsonl").write_text(TWO_LINES)
    reached.attempts_began = True
    reached.under_way = lambda: [UnderWay(case_id="b", attempt=3, waits_for="agent")]


def test_an_interrupt_after_the_first_attempt_keeps_the_evidence_and_says_how_far_it_got_and_how_to_go_on(
    tmp_path: Path, plan: Plan
) -> None:
    with pytest.raises(Interrupted) as caught, new_run(tmp_path, plan=plan, redactor=NOTHING_SECRET) as (run, reached):
        go_half_way(run, reached, plan)
        raise an_interrupt()
    abort = json.loads((run.path / "abort.json").read_text())
    assert (abort["reason"], abort["phase"]) == ("interrupted", "attempts")
    assert (abort["plannedCases"], abort["plannedRepeats"]) == (2, 2)
    assert (abort["finishedAttempts"], abort["finishedRepeats"]) == (2, 1)
    assert abort["underWay"] == [{"caseId": "b", "attempt": 3, "waitsFor": "agent"}]
    assert not (run.path / "COMPLETE").exists()
    readme = (run.path / "README.md").read_text()
    assert readme.startswith(f"# {plan.run_id}: unsealed\n")
    assert "attempts: 1 of 2 repeats finished\n- under way: b, attempt 3, agent\n" in readme
    assert "labctl resume ." in readme
    assert caught.value.rest == f"kept: {run.path} (unsealed: it is never graded)\nnext: labctl resume {run.path}"


def test_what_is_owed_at_any_instant_is_what_an_interrupt_would_have_written(tmp_path: Path, plan: Plan) -> None:
    run = RunDirectory.create(tmp_path, run_id="run-1")
    reached = Reached()
    unsealed = aborted._Unsealed(run, plan, NOTHING_SECRET, reached)
    assert unsealed.owed("interrupted").remove == (str(run.path),)
    go_half_way(run, reached, plan)
    part = run.path / "suite" / ".labctl-part-1-1"
    part.touch()
    owed = unsealed.owed("interrupted")
    assert owed.remove == (str(part),)
    assert json.loads(owed.write[str(run.path / "abort.json")])["finishedAttempts"] == 2
    assert "unsealed" in owed.write[str(run.path / "README.md")]
    assert owed.told[-1] == f"next: labctl resume {run.path}"
    (run.path / "COMPLETE").write_text("sealed")
    assert unsealed.owed("interrupted").told == (f"kept: {run.path} (sealed)",)
    assert not unsealed.owed("interrupted").write
    run.close()


def test_a_signal_after_the_seal_leaves_the_run_as_it_was_sealed(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(Interrupted) as caught, new_run(tmp_path, plan=plan, redactor=NOTHING_SECRET) as (run, reached):
        reached.attempts_began = True
        (run.path / "COMPLETE").write_text("sealed")
        raise an_interrupt()
    assert not (tmp_path / "run-1" / "abort.json").exists()
    assert caught.value.rest.endswith("(sealed)")


def test_an_error_keeps_its_own_next_step_before_the_resume(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(LabError) as caught, new_run(tmp_path, plan=plan, redactor=NOTHING_SECRET) as (run, reached):
        begin(run, plan)
        reached.attempts_began = True
        raise LabError(ErrorCode.WRITE_FAILED, "no", next_step="free space")
    assert caught.value.next_step == f"free space; then labctl resume {run.path}"


def test_a_run_whose_disk_failed_says_that_it_could_not_say_how_far_it_got(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(LabError) as caught, new_run(tmp_path, plan=plan, redactor=NOTHING_SECRET) as (run, reached):
        reached.attempts_began = True
        (run.path / "journal").write_text("")
        run.write_whole("journal/under-a-file", b"")
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert "(unsealed: it is never graded), without abort.json: journal/under-a-file: " in str(caught.value.kept)


def test_secrets_are_in_neither_file(tmp_path: Path, plan: Plan) -> None:
    with (
        pytest.raises(LabError),
        new_run(tmp_path, plan=plan, redactor=Redactor({"TOKEN": SECRET})) as (run, reached),
    ):
        reached.attempts_began = True
        raise LabError(ErrorCode.ENGINE_FAILED, f"it said {SECRET}")
    text = (run.path / "abort.json").read_text() + (run.path / "README.md").read_text()
    assert SECRET not in text
    assert text.count("[redacted:TOKEN]") == 2
