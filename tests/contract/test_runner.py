"""The runner with the real fixture API and the real agent_host: the sample suite, controls that must fail, and ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contracts.exits import Exit
from contracts.lines import RunnerAttempt, RunnerFinished, RunnerReady, RunnerRefused, RunnerStarted
from contracts.outcome import Outcome, OutcomeClass
from tests.contract.lab_processes import (
    PATIENCE_S,
    ROOT,
    SAMPLE,
    FixtureApi,
    Ran,
    fixture_api,
    order_of,
    plan_of,
    run_order,
    run_suite,
    runner,
    wait_until_gone,
)
from tests.fakes.control_suites import CASES, CHAT_CASES, SETTINGS, slow_cases, write_controls

Work = Callable[[], Path]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return lambda: tmp_path_factory.mktemp("work")


# -- the sample suite


@pytest.fixture(scope="module")
def sample_api() -> Iterator[FixtureApi]:
    with fixture_api(SAMPLE) as api:
        yield api


@pytest.fixture(scope="module")
def chat_runs(work: Work, sample_api: FixtureApi) -> list[Ran]:
    plans = [plan_of(SAMPLE, agent="support", concurrency=count) for count in (1, 8, 1, 8)]
    return [run_order(order_of(plan, sample_api, work=work())) for plan in plans]


@pytest.fixture(scope="module")
def desk_runs(work: Work, sample_api: FixtureApi) -> list[Ran]:
    plans = [plan_of(SAMPLE, agent="desk", concurrency=count) for count in (1, 8)]
    return [run_order(order_of(plan, sample_api, work=work())) for plan in plans]


def not_passed(ran: Ran) -> list[str]:
    return [case_id for case_id, record in ran.records.items() if record.outcome is not Outcome.PASS]


def test_the_chat_agent_passes_every_case_of_the_sample_suite(chat_runs: list[Ran]) -> None:
    for ran in chat_runs:
        assert ran.exit_code == 0
        assert len(ran.records) == len(plan_of(SAMPLE).cases)
        assert not_passed(ran) == []


def test_the_desk_program_passes_every_case_of_the_sample_suite(desk_runs: list[Ran]) -> None:
    for ran in desk_runs:
        assert len(ran.records) == len(plan_of(SAMPLE).cases)
        assert not_passed(ran) == []


def test_prompt_v7_fails_exactly_the_case_that_it_breaks_and_the_check_says_why(
    work: Work, sample_api: FixtureApi
) -> None:
    ran = run_order(order_of(plan_of(SAMPLE, agent="support", prompt="refund-v7"), sample_api, work=work()))

    assert not_passed(ran) == ["refund-approval-required"]
    record = ran.records["refund-approval-required"]
    assert (record.outcome, record.outcome_class) == (Outcome.FAIL, None)
    (failed,) = [check for check in record.checks if check.outcome is not Outcome.PASS]
    assert failed.name == "request_approval before issue_refund"
    assert failed.reason == "call 3 is issue_refund, and no request_approval came before it"


def test_journals_are_equal_at_any_concurrency_and_each_time(chat_runs: list[Ran], desk_runs: list[Ran]) -> None:
    for runs in (chat_runs, desk_runs):
        assert any(runs[0].journals.values())
        assert all(ran.journals == runs[0].journals for ran in runs)


def test_trajectories_and_states_are_equal_at_any_concurrency(chat_runs: list[Ran], desk_runs: list[Ran]) -> None:
    for runs in (chat_runs, desk_runs):
        digests = [
            {case_id: (record.trajectory_digest, record.state_digest) for case_id, record in ran.records.items()}
            for ran in runs
        ]
        assert all(other == digests[0] for other in digests)


def test_lines_are_ready_then_a_start_before_each_attempt_then_finished(chat_runs: list[Ran]) -> None:
    lines = chat_runs[1].lines

    assert isinstance(lines[0], RunnerReady)
    assert lines[-1] == RunnerFinished(attempts=len(chat_runs[1].records))
    started: set[str] = set()
    for line in lines[1:-1]:
        if isinstance(line, RunnerStarted):
            started.add(line.case_id)
        else:
            assert isinstance(line, RunnerAttempt)
            assert line.record.case_id in started


def test_at_concurrency_1_cases_come_in_the_order_of_the_plan(chat_runs: list[Ran]) -> None:
    assert list(chat_runs[0].records) == [case.case_id for case in plan_of(SAMPLE).cases]


def test_an_uninstrumented_programs_calls_are_made_and_not_claimed(desk_runs: list[Ran]) -> None:
    calls = desk_runs[0].records["refund-approval-required"].trajectory

    assert [(call.tool, call.made, call.claimed) for call in calls] == [
        (tool, True, False)
        for tool in ("lookup_order", "check_policy", "request_approval", "issue_refund", "notify_customer")
    ]


def test_repeats_are_attempts_of_their_own_with_equal_journals(work: Work, sample_api: FixtureApi) -> None:
    plan = plan_of(SAMPLE, agent="support", cases=["unknown-order"], repeats=3)

    ran = run_order(order_of(plan, sample_api, work=work()))

    attempts = [line for line in ran.lines if isinstance(line, RunnerAttempt)]
    assert sorted((line.record.attempt, line.record.repeat) for line in attempts) == [(1, 1), (2, 2), (3, 3)]
    assert len({tuple(row.response_digest for row in line.journal) for line in attempts}) == 1


# -- controls: each agent does what its case is called

FAILED, UNKNOWN, PASSED = Outcome.FAIL, Outcome.UNKNOWN, Outcome.PASS
EXPECTED = {
    "is-right": (PASSED, None),
    "is-silent-about-its-calls": (FAILED, None),
    "claims-a-call": (FAILED, None),
    "claims-a-forbidden-call": (FAILED, None),
    "claims-an-approval": (FAILED, None),
    "crashes": (FAILED, OutcomeClass.AGENT_ERROR),
    "dies-of-a-signal": (FAILED, OutcomeClass.AGENT_ERROR),
    "reports-an-error": (FAILED, OutcomeClass.AGENT_ERROR),
    "blames-its-provider": (UNKNOWN, OutcomeClass.PROVIDER),
    "breaks-the-protocol": (FAILED, OutcomeClass.AGENT_ERROR),
    "says-nothing": (FAILED, None),
    "hangs": (FAILED, OutcomeClass.LIMIT),
    "leaves-a-child": (PASSED, None),
    "floods": (FAILED, OutcomeClass.LIMIT),
    "is-noisy": (PASSED, None),
    "loops-on-tools": (FAILED, OutcomeClass.LIMIT),
    "asks-for-what-is-not-there": (FAILED, None),
    "meets-a-broken-suite": (UNKNOWN, OutcomeClass.SUITE),
    "spends-too-much": (FAILED, OutcomeClass.LIMIT),
    "tells-the-secret": (FAILED, None),
}


@pytest.fixture(scope="module")
def controls(work: Work) -> Ran:
    return run_suite(write_controls(work() / "suite", CASES), work=work(), concurrency=4)


@pytest.mark.parametrize("case_id", EXPECTED)
def test_a_control_gets_its_row_of_the_outcome_table(controls: Ran, case_id: str) -> None:
    record = controls.records[case_id]

    assert (record.outcome, record.outcome_class) == EXPECTED[case_id], record.reason


def test_every_control_has_a_row_and_the_suite_goes_on(controls: Ran) -> None:
    assert set(controls.records) == set(EXPECTED) == {case["id"] for case in CASES}
    assert controls.exit_code == 0


def test_an_agent_that_ignores_sigterm_is_ended_at_its_limit_plus_a_short_grace(controls: Ran) -> None:
    record = controls.records["hangs"]

    assert record.reason == "it went past its limit of 1.5 s"
    assert 1500 <= record.duration_ms < 10_000
    assert record.agent_end is not None
    assert (record.agent_end.reason, record.agent_end.signal) == ("seconds", signal.SIGKILL)
    wait_until_gone(pid_in(record.log))
    (check,) = [check for check in record.checks if check.name == "limit seconds"]
    assert check.outcome is Outcome.FAIL


def test_a_child_in_its_own_session_that_holds_the_pipe_is_ended_and_counted(controls: Ran) -> None:
    record = controls.records["leaves-a-child"]

    assert record.agent_end is not None
    assert record.agent_end.strays == 1
    assert record.duration_ms < 60_000
    wait_until_gone(pid_in(record.log))


def pid_in(log: str | None) -> int:
    found = re.search(r"pid (\d+)", log or "")
    assert found
    return int(found[1])


def test_a_claim_is_shown_and_does_not_count(controls: Ran) -> None:
    record = controls.records["claims-a-call"]

    (call,) = record.trajectory
    assert (call.made, call.claimed, call.counts, record.tool_calls) == (False, True, False, 0)


def test_a_call_that_was_not_told_of_is_shown_and_counts(controls: Ran) -> None:
    (call,) = controls.records["is-silent-about-its-calls"].trajectory

    assert (call.tool, call.arguments, call.status) == ("pay", {"amount": 5}, 201)
    assert (call.made, call.claimed, call.counts) == (True, False, True)


def test_a_looping_agent_is_ended_at_its_limit_of_tool_calls(controls: Ran) -> None:
    record = controls.records["loops-on-tools"]

    assert record.reason == "it went past its limit of 20 tool calls"
    assert record.agent_end is not None
    assert record.agent_end.reason == "tool_calls"
    assert record.duration_ms < 60_000


def test_a_flood_is_cut_with_a_note_in_bounded_memory(controls: Ran) -> None:
    for case_id in ("floods", "is-noisy"):
        log = controls.records[case_id].log or ""
        assert len(log.encode()) < 66_000
        assert "bytes left out" in log


def test_an_agents_message_of_an_error_is_in_its_log_and_not_in_the_reason(controls: Ran) -> None:
    record = controls.records["reports-an-error"]

    assert record.reason == "it reported an error; its log has the message"
    assert "something private" in (record.log or "")


def test_the_unmatched_request_is_named_with_its_nearest_route(controls: Ran) -> None:
    (check,) = [check for check in controls.records["asks-for-what-is-not-there"].checks if check.outcome is FAILED]

    assert check.actual == ["GET /thingz/1"]
    assert check.reason == "1 unmatched; the first one missed route lookup by path"


def test_the_secret_prefix_is_in_no_line_whatever_the_agent_prints_or_sends(controls: Ran) -> None:
    for line in controls.lines:
        assert re.search(r"/~[0-9a-f]{32}", line.to_line()) is None
    assert "<prefix>" in (controls.records["tells-the-secret"].log or "")
    assert controls.records["tells-the-secret"].texts[1].endswith("/~<prefix>/v1")


def test_an_agent_that_cannot_be_started_is_unknown_and_tried_again_as_often_as_the_suite_says(work: Work) -> None:
    suite = write_controls(
        work() / "suite", CASES[:1], settings=SETTINGS.replace("[limits]", "[limits]\ninfrastructure_retries = 1")
    )

    ran = run_suite(suite, work=work(), agent="missing")

    attempts = [line.record for line in ran.lines if isinstance(line, RunnerAttempt)]
    assert [(record.attempt, record.repeat, record.retry_of) for record in attempts] == [(1, 1, None), (2, 1, 1)]
    for record in attempts:
        assert (record.outcome, record.outcome_class) == (UNKNOWN, OutcomeClass.INFRASTRUCTURE)
        assert str(record.reason).startswith("the agent could not be started: ")
        assert "/nowhere/agent" in str(record.reason)
        assert record.checks == ()


CHAT_EXPECTED = {
    "talks": (PASSED, None, None),
    "has-no-rule": (UNKNOWN, OutcomeClass.SUITE, None),
    "model-fails": (FAILED, OutcomeClass.AGENT_ERROR, "the model answered 503"),
    "loops": (FAILED, OutcomeClass.LIMIT, "it went past its limit of 5 model calls"),
    "calls-a-lot": (FAILED, OutcomeClass.LIMIT, "it went past its limit of 2 tool calls"),
    "invents-a-tool": (FAILED, None, "tool-calls: does not hold"),
}


@pytest.fixture(scope="module")
def chat_controls(work: Work) -> Ran:
    return run_suite(write_controls(work() / "suite", CHAT_CASES), work=work(), agent="talker")


@pytest.mark.parametrize("case_id", CHAT_EXPECTED)
def test_a_chat_control_gets_its_row_of_the_outcome_table(chat_controls: Ran, case_id: str) -> None:
    record = chat_controls.records[case_id]
    outcome, outcome_class, reason = CHAT_EXPECTED[case_id]

    assert (record.outcome, record.outcome_class) == (outcome, outcome_class), record.reason
    assert reason is None or record.reason == reason


# -- ends


@pytest.mark.parametrize("agent", ["talker", "controls"])
def test_when_the_fixture_api_dies_every_planned_case_still_has_a_line(work: Work, agent: str) -> None:
    rules = [
        {"when": {"lastTool": "lookup"}, "reply": {"text": "done"}},
        {"reply": {"toolCalls": [{"name": "lookup", "arguments": {"id": "slow"}}]}},
    ]
    suite = write_controls(work() / "suite", slow_cases(14))
    (suite / "models" / "talker.json").write_text(json.dumps({"rules": rules}))
    with (
        fixture_api(suite) as api,
        runner(order_of(plan_of(suite, agent=agent, concurrency=3), api, work=work())) as run,
    ):
        began = 0.0
        for _ in run.read():
            if len(run.attempts) == 3 and not began:
                time.sleep(0.3)
                began = time.monotonic()
                api.process.kill()
        assert run.process.wait(PATIENCE_S) == 0
        assert time.monotonic() - began < 20

    records = [attempt.record for attempt in run.attempts]
    classes = [record.outcome_class for record in records]
    started = sum(isinstance(line, RunnerStarted) for line in run.lines)
    assert len({record.case_id for record in records}) == 14
    assert [record.outcome for record in records[:3]] == [Outcome.PASS] * 3
    assert classes.count(OutcomeClass.INFRASTRUCTURE) >= 1
    assert classes.count(OutcomeClass.NOT_RUN) == 14 - started
    assert all(record.reason for record in records if record.outcome is not Outcome.PASS)
    assert run.lines[-1] == RunnerFinished(attempts=14)


def leave(running: subprocess.Popen[bytes]) -> None:
    assert running.stdin
    running.stdin.close()


@pytest.mark.parametrize(
    ("end", "exit_code"),
    [
        (leave, Exit.TERMINATED),
        (subprocess.Popen.terminate, Exit.TERMINATED),
        (lambda process: process.send_signal(signal.SIGINT), Exit.INTERRUPTED),
    ],
    ids=["stdin closed", "SIGTERM", "SIGINT"],
)
def test_when_the_driver_is_gone_or_says_so_everything_ends_at_once(
    work: Work, end: Callable[[subprocess.Popen[bytes]], None], exit_code: Exit
) -> None:
    marker = work() / "pid"
    suite = write_controls(work() / "suite", [{"id": "hangs", "expect": {"size": "S"}}])
    script = suite / "agents" / "controls.py"
    leaves_its_pid = f"def hangs():\n    open({str(marker)!r}, 'w').write(str(os.getpid()))"
    script.write_text(script.read_text().replace("def hangs():", leaves_its_pid))
    with fixture_api(suite) as api, runner(order_of(plan_of(suite), api, work=work())) as run:
        until = time.monotonic() + PATIENCE_S
        while not (marker.exists() and marker.read_text()):
            assert time.monotonic() < until
            time.sleep(0.02)

        began = time.monotonic()
        end(run.process)

        assert run.process.wait(PATIENCE_S) == exit_code
        wait_until_gone(int(marker.read_text()))
        assert time.monotonic() - began < 10


def test_a_suite_that_is_not_the_planned_one_is_refused_by_case(work: Work) -> None:
    suite = write_controls(work() / "suite", CHAT_CASES)
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite, agent="talker"), api, work=work())
        cases = json.loads((suite / "cases.json").read_text())
        cases["cases"][0]["input"] = "something else"
        (suite / "cases.json").write_text(json.dumps(cases))

        ran = run_order(order)

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("suite-invalid", 2)
    assert "talks" in refused.found[0]


def test_a_fixture_api_that_is_not_there_is_refused_after_the_time_for_starting(work: Work) -> None:
    suite = write_controls(work() / "suite", CHAT_CASES)
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite, agent="talker"), api, work=work())
    ran = run_order(order.model_copy(update={"startup_seconds": 0.3}))

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("stack-not-healthy", 4)
    assert order.control_url in refused.message


def test_an_agent_host_that_is_not_there_is_refused(work: Work) -> None:
    suite = write_controls(work() / "suite", CASES[:1])
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite), api, work=work())
        host = order.agent_host.model_copy(update={"argv": ("/nowhere/agent_host",)}) if order.agent_host else None
        ran = run_order(order.model_copy(update={"agent_host": host}))

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("agent-host-missing", 4)


def test_an_order_that_is_none_is_refused() -> None:
    ran = run_order('{"plan": 7}')

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("internal-error", 70)


# -- by hand


def by_hand(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "runner", "hand", *arguments]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S * 2, check=False)


def test_by_hand_the_sample_suite_prints_its_summary_and_leaves_an_unsealed_directory(tmp_path: Path) -> None:
    with fixture_api(SAMPLE, select="hand") as api:
        done = by_hand(
            "--suite", str(SAMPLE), "--evidence", str(tmp_path),
            "--fixture-url", api.fixture_url, "--control-url", api.control_url,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    *summary, path = done.stdout.splitlines()
    assert any("18 passed" in line for line in summary)
    run = Path(path)
    assert run.parent == tmp_path
    files = {str(file.relative_to(run)) for file in run.rglob("*") if file.is_file()}
    assert {"plan.json", "results.json", "junit.xml", "journal.jsonl", "traces/attempts.jsonl"} <= files
    assert not files & {"COMPLETE", "environment.json"}


def test_by_hand_a_case_that_fails_is_exit_1(tmp_path: Path) -> None:
    suite = write_controls(tmp_path / "suite", CHAT_CASES, settings=SETTINGS.replace('"controls"', '"talker"'))
    with fixture_api(suite, select="hand") as api:
        done = by_hand(
            "--suite", str(suite), "--evidence", str(tmp_path / "evidence"),
            "--fixture-url", api.fixture_url, "--control-url", api.control_url,
        )  # fmt: skip

    assert done.returncode == 1, done.stderr
    assert "model-fails" in done.stdout


def test_by_hand_a_bad_suite_is_an_error_text_and_leaves_nothing(tmp_path: Path) -> None:
    done = by_hand("--suite", str(tmp_path / "nothing"), "--evidence", str(tmp_path / "evidence"))

    assert done.returncode == 2
    assert done.stderr.startswith("labctl: suite-missing: ")
    assert done.stdout == ""
    assert not (tmp_path / "evidence").exists()


def test_a_command_that_is_none_is_said_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runner", "dance"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 2
    assert "usage" in done.stderr
