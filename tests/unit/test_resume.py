"""A run is gone on with over a fake stack: what is refused before a write, and what the evidence says then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.lines import RunnerFinished, RunnerReady, RunnerRefused
from contracts.outcome import OutcomeClass
from contracts.plan import Plan
from driver import staging
from driver.interrupts import Interrupted
from driver.pipeline import RunOutcome, run_suite
from driver.rerun import Anew
from driver.resume import resume
from driver.verify import verify_run
from ledger.run_lock import NoLocksError, RunLock
from tests.fakes.cut_back import cut_back, told
from tests.fakes.fake_stack import FakeStack, passing_attempt
from tests.fakes.run_requests import REQUEST

SAMPLE = Path(__file__).resolve().parents[2] / "fixtures"
CASES = ("refund-approval-required", "already-refunded", "unknown-order")
ANEW = Anew(command=("labctl", "resume"), evidence=Path(), env=(), env_from_file=None, host_env={})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return shutil.copytree(SAMPLE, tmp_path / "suite")


def ran(tmp_path: Path, suite: Path, **changed: Any) -> Path:
    """A sealed run of three cases over a fake stack."""
    request = replace(REQUEST, suite=suite, case_ids=CASES, evidence=tmp_path / "evidence", **changed)
    outcome = run_suite(request, stack=FakeStack(), host_env={}, progress=_quiet, warn=_nothing)
    return outcome.path


@pytest.fixture
def run(tmp_path: Path, suite: Path) -> Path:
    """One that was killed after its first attempt."""
    path = ran(tmp_path, suite)
    cut_back(path, attempts=1)
    return path


def _quiet(plan: Plan) -> Callable[[object], None]:
    return lambda _event: None


def _nothing(text: str) -> None:
    """Nobody is told."""


def rest(stack: FakeStack) -> Callable[[Plan], Iterator[str]]:
    """What a runner says that makes what the order does not call finished."""

    def says(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        finished = {one.case_id for one in stack.worlds[-1].finished}
        for case in plan.cases:
            if case.case_id not in finished:
                yield passing_attempt(plan, case.case_id).to_line()
        yield RunnerFinished(attempts=len(plan.cases) - len(finished)).to_line()

    return says


def resumed(path: Path, *, stack: FakeStack | None = None, said: list[str] | None = None, **anew: Any) -> RunOutcome:
    stack = stack or FakeStack()
    if stack.says.__name__ == "all_pass":
        stack.says = rest(stack)
    tell = (said if said is not None else []).append
    return resume(path, anew=replace(ANEW, **anew), stack_of=lambda *_: stack, progress=_quiet, tell=tell)


def refused(path: Path, **anew: Any) -> LabError:
    """The refusal, of which nothing was written."""
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with pytest.raises(LabError) as caught:
        resumed(path, **anew)
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
    return caught.value


def test_a_run_in_which_temporary_files_would_lie_is_left_as_it_is(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (run, run / "suite"):
        monkeypatch.setattr("tempfile.tempdir", str(place))
        error = refused(run)
        assert error.code is ErrorCode.SEALED_RUN
        assert "lies in a run that is not sealed" in error.message


def test_the_rest_is_run_and_the_run_is_as_one_that_nobody_killed(tmp_path: Path, suite: Path) -> None:
    path = ran(tmp_path, suite)
    whole = told(path)
    cut_back(path, attempts=1)
    stack = FakeStack()
    outcome = resumed(path, stack=stack)
    assert outcome.exit_code is Exit.YES
    assert [one.case_id for one in stack.worlds[0].finished] == [CASES[0]]
    assert told(path) == whole
    assert verify_run(path).cases == 3


def test_a_run_that_had_finished_everything_is_sealed_without_a_stack(tmp_path: Path, suite: Path) -> None:
    path = ran(tmp_path, suite)
    cut_back(path, attempts=3)
    stack = FakeStack()
    assert resumed(path, stack=stack).exit_code is Exit.YES
    assert stack.worlds == []
    assert verify_run(path).cases == 3


def test_the_manifest_and_the_readme_say_how_a_run_came_together_also_when_it_was_resumed_twice(run: Path) -> None:
    stack = FakeStack()

    def one_more(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        yield passing_attempt(plan, CASES[1]).to_line()
        raise Interrupted(Exit.TERMINATED, "terminated")

    stack.says = one_more
    with pytest.raises(Interrupted) as caught:
        resumed(run, stack=stack)
    assert "unsealed" in (caught.value.kept or "")
    assert json.loads((run / "abort.json").read_text())["reason"] == "terminated"
    assert len(json.loads((run / "begun.json").read_text())["resumed"]) == 1
    resumed(run)
    said = json.loads((run / "environment.json").read_text())["resumed"]
    assert (said["keptAttempts"], said["ranAttempts"]) == (1, 2)
    assert [part["keptAttempts"] for part in said["parts"]] == [1, 2]
    assert "1 attempts are its own, and 2 were made after `labctl resume`" in (run / "README.md").read_text()
    assert not {"abort.json", "begun.json"} & {path.name for path in run.iterdir()}
    verify_run(run)


def test_a_run_that_nobody_resumed_does_not_speak_of_it(tmp_path: Path, suite: Path) -> None:
    path = ran(tmp_path, suite)
    assert "resumed" not in json.loads((path / "environment.json").read_text())
    assert "Resumed" not in (path / "README.md").read_text()


def test_a_resumption_that_cannot_start_leaves_the_run_as_resumable_as_it_was(run: Path) -> None:
    stack = FakeStack(says=lambda _plan: iter([RunnerRefused(code="stack-not-healthy", message="no").to_line()]))
    with pytest.raises(LabError) as caught:
        resumed(run, stack=stack)
    assert caught.value.code is ErrorCode.STACK_UNHEALTHY
    assert run.is_dir()
    assert resumed(run).exit_code is Exit.YES


def test_a_live_run_is_refused_by_name(run: Path) -> None:
    lock = RunLock.take(run)
    error = refused(run)
    lock.release()
    assert error.code is ErrorCode.NOT_RESUMABLE
    assert f"{run} is live" in error.message


def test_where_no_lock_can_be_had_nobody_pretends(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def take(path: Path) -> RunLock:
        raise NoLocksError("No locks available")

    monkeypatch.setattr(RunLock, "take", take)
    error = refused(run)
    assert (error.code, error.cause) == (ErrorCode.NOT_RESUMABLE, "No locks available")


def test_a_sealed_run_is_refused_with_what_can_be_done_with_it(tmp_path: Path, suite: Path) -> None:
    path = ran(tmp_path, suite)
    error = refused(path)
    assert (error.code, error.exit_code) == (ErrorCode.SEALED_RUN, Exit.USAGE)
    assert f"labctl show {path}" in (error.next_step or "")


def test_a_run_that_ended_before_its_plan_lost_nothing(run: Path) -> None:
    (run / "plan.json").unlink()
    error = refused(run)
    assert (error.code, error.exit_code) == (ErrorCode.NOT_RESUMABLE, Exit.CANNOT_TELL)
    assert "nothing was lost" in error.message
    assert "labctl run" in (error.next_step or "")


@pytest.mark.parametrize("name", ["nothing", "a-file", "empty"])
def test_what_is_no_run_is_refused_as_such(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a-file").write_text("{}")
    with pytest.raises(LabError) as caught:
        resumed(tmp_path / name)
    assert caught.value.code is ErrorCode.NO_RUN


def test_a_run_by_hand_is_refused(run: Path) -> None:
    plan = json.loads((run / "plan.json").read_text())
    (run / "plan.json").write_text(json.dumps({**plan, "command": ["python", "-m", "runner", "hand"]}))
    error = refused(run)
    assert error.code is ErrorCode.NOT_RESUMABLE
    assert "made by hand" in error.message


def test_another_labctl_is_refused_also_where_its_plan_has_keys_that_nobody_knows(run: Path) -> None:
    plan = json.loads((run / "plan.json").read_text())
    (run / "plan.json").write_text(json.dumps({**plan, "labctl": "9.9.9", "later": True}))
    error = refused(run)
    assert error.code is ErrorCode.NOT_RESUMABLE
    assert [str(found) for found in error.found] == ["plan.json labctl: 9.9.9"]


def test_other_files_of_the_lab_are_refused_by_name_although_its_version_is_the_same(run: Path) -> None:
    manifest = json.loads((run / "environment.json").read_text())
    manifest["dependencies"]["labCode"]["runner"] = "sha256:other"
    manifest["dependencies"]["packages"]["click"] = "0.0"
    (run / "environment.json").write_text(json.dumps(manifest))
    found = [str(one) for one in refused(run).found]
    assert [text.partition(":")[0] for text in found] == [
        "begun.json dependencies.labCode.runner",
        "begun.json dependencies.packages.click",
    ]


def test_everything_that_would_be_another_run_is_named_at_once(run: Path) -> None:
    state = json.loads((run / "suite" / "state.json").read_text())
    (run / "suite" / "state.json").write_text(json.dumps({**state, "more": 1}))
    cases = json.loads((run / "suite" / "cases.json").read_text())
    next(case for case in cases["cases"] if case["id"] == CASES[2])["input"] = "something else"
    (run / "suite" / "cases.json").write_text(json.dumps(cases))
    (run / "suite" / "prompts" / "refund-v6.md").write_text("Be rude.")
    error = refused(run)
    assert error.code is ErrorCode.NOT_RESUMABLE
    places = {found.place for found in error.found}
    assert {"conditions.datasetDigest", "conditions.promptDigest", f"cases.{CASES[2]}.caseDigest"} <= places


def test_a_suite_in_the_evidence_that_cannot_be_read_any_more_is_no_wrong_usage(run: Path) -> None:
    (run / "suite" / "routes.json").write_text("{")
    error = refused(run)
    assert (error.code, error.exit_code) == (ErrorCode.NOT_RESUMABLE, Exit.CANNOT_TELL)
    assert any("routes.json" in str(found) for found in error.found)


def test_files_that_were_too_large_to_be_kept_are_named(
    tmp_path: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MAX_KEPT_BYTES", 1_000_000)
    (suite / "large.bin").write_bytes(bytes(1_000_001))
    path = ran(tmp_path, suite)
    cut_back(path, attempts=1)
    found = [str(one) for one in refused(path).found]
    assert len(found) == 1
    assert found[0].startswith("is known by its digest only: suite: large.bin (1000001 bytes, sha256:")


def test_a_value_that_is_not_here_is_asked_for_and_the_working_tree_is_told_and_not_used(
    tmp_path: Path, suite: Path
) -> None:
    path = ran(tmp_path, suite, env=("TOKEN=a-secret-value", "MODE=x"), not_secret=("MODE",))
    cut_back(path, attempts=1)
    (suite / "routes.json").write_text("{")
    error = refused(path)
    assert [found.place for found in error.found] == ["TOKEN", "MODE"]
    assert error.next_step == f"labctl resume {path} -e TOKEN -e MODE"
    other = refused(path, env=("TOKEN=a-secret-value", "MODE=y"))
    assert [found.place for found in other.found] == ["conditions.agentEnv.MODE"]
    said: list[str] = []
    stack = FakeStack()
    resumed(path, stack=stack, said=said, env=("TOKEN=a-secret-value",), host_env={"MODE": "x", "HF_TOKEN": "mine"})
    assert stack.worlds[0].agent_env == {"TOKEN": "a-secret-value", "MODE": "x"}
    assert f"changed since, and not used: {suite}/routes.json: was changed" in said
    assert b"a-secret-value" not in b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


def test_attempts_that_no_kill_leaves_so_are_refused(run: Path) -> None:
    attempts = run / "traces" / "attempts.jsonl"
    line = attempts.read_bytes().partition(b"\n")[0] + b"\n"
    attempts.write_bytes(line + line)
    assert [str(found) for found in refused(run).found] == [
        f"traces/attempts.jsonl line 2: {CASES[0]}, attempt 1: an attempt that stands above already"
    ]
    attempts.write_bytes(line.replace(b'"journalRows":0', b'"journalRows":2'))
    assert [str(found) for found in refused(run).found] == [
        f"journal.jsonl: ends before the 2 rows of {CASES[0]}, attempt 1"
    ]
    assert refused(run).next_step == "run the suite again: labctl run"


def test_the_baseline_is_opened_again_and_decides(tmp_path: Path, suite: Path) -> None:
    baseline = ran(tmp_path, suite, run_id="before")
    path = ran(tmp_path, suite, run_id="after", baseline=baseline, allow_removed=True)
    whole = json.loads((path / "comparison.json").read_text())
    cut_back(path, attempts=1)
    plan = json.loads((path / "plan.json").read_text())
    assert (plan["flags"]["baseline"], plan["baselineRun"]) == (str(baseline), "before")
    outcome = resumed(path)
    assert outcome.comparison is not None
    again = json.loads((path / "comparison.json").read_text())
    assert again["cases"] == whole["cases"]
    assert (again["verdict"], again["baselineRun"]) == ("no-regression", "before")


def test_another_run_in_the_place_of_the_baseline_is_refused_and_one_that_is_gone_too(
    tmp_path: Path, suite: Path
) -> None:
    baseline = ran(tmp_path, suite, run_id="before")
    path = ran(tmp_path, suite, run_id="after", baseline=baseline)
    cut_back(path, attempts=1)
    shutil.rmtree(baseline)
    assert refused(path).code is ErrorCode.NOT_RESUMABLE
    ran(tmp_path, suite, run_id="other").rename(baseline)
    assert [str(found) for found in refused(path).found] == ["plan.json baselineRun: before → other"]


def test_spans_of_the_part_that_was_killed_are_a_loss_that_nobody_counts(tmp_path: Path, suite: Path) -> None:
    path = ran(tmp_path, suite, profiles=("observe",))
    cut_back(path, attempts=1)
    said: list[str] = []
    resumed(path, said=said)
    telemetry = json.loads((path / "environment.json").read_text())["telemetry"]
    assert "spansLost" not in telemetry
    assert "spans of what ran before the run was resumed are lost, and nobody counted them" in telemetry["troubles"]
    assert any("the trace may be incomplete" in text for text in said)


def test_a_repeat_that_never_started_is_made_and_the_line_that_says_so_stays(run: Path) -> None:
    attempts = run / "traces" / "attempts.jsonl"
    line = json.loads(attempts.read_bytes().partition(b"\n")[0])
    line |= {"outcome": "unknown", "class": OutcomeClass.NOT_RUN.value, "reason": "the stack was lost"}
    attempts.write_text(json.dumps(line) + "\n")
    stack = FakeStack()

    def says(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        again = passing_attempt(plan, CASES[0])
        record = again.record.model_copy(update={"attempt": 2, "retry_of": 1})
        yield again.model_copy(update={"record": record}).to_line()
        for case_id in CASES[1:]:
            yield passing_attempt(plan, case_id).to_line()

    stack.says = says
    assert resumed(run, stack=stack).exit_code is Exit.YES
    results = json.loads((run / "results.json").read_text())
    assert [one["outcome"] for one in results["cases"][0]["attempts"]] == ["unknown", "pass"]
    assert results["cases"][0]["flaky"] is False
