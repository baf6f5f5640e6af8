"""The whole run over a fake stack: what is written, what a dead runner leaves, and what never began."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.lines import RunnerReady, RunnerRefused, RunnerStarted
from contracts.plan import Backend, Plan
from driver.interrupts import Interrupted
from driver.pipeline import RunOutcome, run_suite
from driver.request import RunRequest
from driver.verify import verify_run
from tests.fakes.fake_stack import FakeStack, passing_attempt
from tests.fakes.run_requests import REQUEST

SAMPLE = Path(__file__).resolve().parents[2] / "fixtures"
SECRET = "a-secret-value"


def request(evidence: Path) -> RunRequest:
    return replace(
        REQUEST,
        suite=SAMPLE,
        case_ids=("unknown-order", "already-refunded"),
        evidence=evidence,
        env=(f"TOKEN={SECRET}", "SHORT_KEY=ab"),
    )


def run(stack: FakeStack, wanted: RunRequest, warnings: list[str] | None = None) -> RunOutcome:
    told = warnings if warnings is not None else []
    return run_suite(wanted, stack=stack, host_env={}, progress=lambda _plan: lambda _event: None, warn=told.append)


def test_a_run_that_passes_is_sealed_and_verifies(tmp_path: Path) -> None:
    stack = FakeStack()
    outcome = run(stack, request(tmp_path))
    assert outcome.exit_code is Exit.YES
    assert stack.torn_down
    assert verify_run(outcome.path).cases == 2


def test_a_runner_that_does_not_say_what_it_traced_is_told_of_and_the_run_is_sealed(tmp_path: Path) -> None:
    warnings: list[str] = []
    outcome = run(FakeStack(), replace(request(tmp_path), profiles=("observe",)), warnings)
    assert outcome.exit_code is Exit.YES
    assert verify_run(outcome.path).cases == 2
    telemetry = json.loads((outcome.path / "environment.json").read_text())["telemetry"]
    assert (telemetry.get("spansMade"), telemetry["spansWritten"], telemetry.get("spansLost")) == (None, 0, None)
    assert any("the trace may be incomplete (0 spans written)" in warning for warning in warnings)
    assert "--profile observe" in (outcome.path / "README.md").read_text()


@pytest.mark.parametrize(
    ("profiles", "job", "cases"),
    [
        ((), None, ()),
        (("observe",), None, ()),
        (("observe", "fault"), None, ("cut-connection", "policy-question")),
        ((), "fault", ("cut-connection", "policy-question")),
    ],
)
def test_the_stack_is_told_which_cases_need_the_fault_proxy_by_profile_and_by_job(
    tmp_path: Path, profiles: tuple[str, ...], job: str | None, cases: tuple[str, ...]
) -> None:
    stack = FakeStack()
    run(stack, replace(request(tmp_path), case_ids=(), profiles=profiles, job=job))
    assert stack.asked_proxy_for == [cases]


def test_long_texts_are_digests_and_values_too_short_to_hide_are_told(tmp_path: Path) -> None:
    warnings: list[str] = []
    outcome = run(FakeStack(), request(tmp_path), warnings)
    line = json.loads((outcome.path / "traces" / "attempts.jsonl").read_text().splitlines()[0])
    assert line["texts"][0].startswith("<")
    assert any("SHORT_KEY" in warning for warning in warnings)


def test_no_secret_value_is_in_any_file_and_the_stack_gets_it(tmp_path: Path) -> None:
    def leaks(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        for case in plan.cases:
            line = passing_attempt(plan, case.case_id)
            record = line.record.model_copy(update={"texts": (SECRET,), "log": f"key={SECRET}"})
            yield line.model_copy(update={"record": record}).to_line()

    stack = FakeStack(says=leaks)
    outcome = run(stack, request(tmp_path))
    assert stack.worlds[0].agent_env["TOKEN"] == SECRET
    leaky = [path for path in outcome.path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert leaky == []


def test_a_runner_that_dies_leaves_what_was_under_way_unknown_and_the_rest_not_run(tmp_path: Path) -> None:
    def dies(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        yield RunnerStarted(case_id="unknown-order", attempt=1, repeat=1).to_line()

    outcome = run(FakeStack(says=dies), request(tmp_path))
    assert outcome.exit_code is Exit.CANNOT_TELL
    results = json.loads((outcome.path / "results.json").read_text())
    classes = {case["caseId"]: case["attempts"][0]["class"] for case in results["cases"]}
    assert classes == {"unknown-order": "infrastructure", "already-refunded": "not-run"}
    verify_run(outcome.path)


def test_a_refusal_before_the_first_attempt_leaves_nothing(tmp_path: Path) -> None:
    def refuses(plan: Plan) -> Iterator[str]:
        yield RunnerRefused(code="stack-not-healthy", message="no").to_line()

    stack = FakeStack(says=refuses)
    with pytest.raises(LabError) as caught:
        run(stack, request(tmp_path))
    assert caught.value.code is ErrorCode.STACK_UNHEALTHY
    assert stack.torn_down
    assert list(tmp_path.iterdir()) == []


def stuck() -> LabError:
    return LabError(ErrorCode.ENGINE_FAILED, "docker compose down: took too long", cause="network p_tools is in use")


def test_finished_attempts_are_sealed_even_where_the_stack_cannot_be_taken_down(tmp_path: Path) -> None:
    warnings: list[str] = []
    outcome = run(FakeStack(teardown_error=stuck()), request(tmp_path), warnings)

    assert outcome.exit_code is Exit.YES
    assert verify_run(outcome.path).cases == 2
    (told,) = [warning for warning in warnings if "could not be taken down" in warning]
    assert "docker compose down: took too long: network p_tools is in use" in told
    assert "labctl clean" in told
    assert f"labctl | {told}" in (outcome.path / "run.log").read_text()


def test_a_stack_that_is_lost_in_the_middle_and_cannot_be_taken_down_leaves_what_it_did_not_run_as_unknown(
    tmp_path: Path,
) -> None:
    def dies(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        yield passing_attempt(plan, "unknown-order").to_line()

    outcome = run(FakeStack(says=dies, teardown_error=stuck()), request(tmp_path))
    assert outcome.exit_code is Exit.CANNOT_TELL
    assert {case.case_id: case.outcome.value for case in outcome.grading.listed} == {
        "unknown-order": "pass",
        "already-refunded": "unknown",
    }
    assert verify_run(outcome.path).cases == 2


def test_an_interrupt_tears_down_and_keeps_finished_attempts_unsealed(tmp_path: Path) -> None:
    def interrupted(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        yield passing_attempt(plan, "unknown-order").to_line()
        raise Interrupted(Exit.TERMINATED, "terminated")

    stack = FakeStack(says=interrupted)
    with pytest.raises(Interrupted):
        run(stack, request(tmp_path))
    assert stack.torn_down
    files = {path.name for path in (tmp_path / "run-1").iterdir()}
    assert "abort.json" in files
    assert "COMPLETE" not in files
    assert (tmp_path / "run-1" / "traces" / "attempts.jsonl").read_text().count("\n") == 1


def test_a_taken_run_id_changes_nothing(tmp_path: Path) -> None:
    run(FakeStack(), request(tmp_path))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(LabError) as caught:
        run(FakeStack(), request(tmp_path))
    assert caught.value.code is ErrorCode.RUN_ID_TAKEN
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_case_that_is_not_there_stops_everything_before_a_directory_is_made(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        run(FakeStack(), replace(request(tmp_path), case_ids=("unknown-ordr",)))
    assert caught.value.exit_code is Exit.USAGE
    assert "unknown-order" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("agent", "backend", "concurrency", "cases", "said"),
    [
        ("desk", "process", 1, 1, "the agent runs as you"),
        ("desk", "process", 1, 1, "limits of time and output hold, none of memory, processes, CPUs or disk"),
        ("desk", "compose", 2, 2, "side by side each other's environment"),
        (
            "desk",
            "compose",
            2,
            2,
            "end each other's processes, and use up the memory, processes and room",
        ),
        ("desk", "compose", 1, 2, "whatever the concurrency: each can read what earlier ones left in /tmp, /dev/shm"),
        ("desk", "compose", 1, 1, None),
        ("support", "process", 2, 2, None),
        ("support", "compose", 2, 2, None),
    ],
)
def test_what_the_isolation_cannot_promise_is_said_once_where_an_agent_of_the_user_runs(
    tmp_path: Path, *, agent: str, backend: Backend, concurrency: int, cases: int, said: str | None
) -> None:
    stack = FakeStack(backend=backend)
    warnings: list[str] = []
    wanted = replace(request(tmp_path), agent=agent, concurrency=concurrency, env=())
    wanted = replace(wanted, case_ids=wanted.case_ids[:cases])
    run(stack, wanted, warnings)
    assert len(warnings) == (said is not None)
    assert said is None or said in warnings[0]


def test_repeats_of_one_case_share_a_container_too(tmp_path: Path) -> None:
    warnings: list[str] = []
    wanted = replace(request(tmp_path), agent="desk", case_ids=("unknown-order",), repeat=2, env=())
    run(FakeStack(backend="compose"), wanted, warnings)
    assert ["isolation shared" in warning for warning in warnings] == [True]


def test_each_case_is_planned_as_often_as_asked_and_a_lost_retry_keeps_its_repeat(tmp_path: Path) -> None:
    def dies(plan: Plan) -> Iterator[str]:
        yield RunnerReady(runner="fake").to_line()
        yield RunnerStarted(case_id="unknown-order", attempt=5, repeat=2, retry_of=2).to_line()

    outcome = run(FakeStack(says=dies), replace(request(tmp_path), repeat=3))
    plan = json.loads((outcome.path / "plan.json").read_text())
    assert [case["repeats"] for case in plan["cases"]] == [3, 3]
    (line,) = (outcome.path / "traces" / "attempts.jsonl").read_text().splitlines()
    lost = json.loads(line)
    assert (lost["attempt"], lost["repeat"], lost["retryOf"], lost["class"]) == (5, 2, 2, "infrastructure")
