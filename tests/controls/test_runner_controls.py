"""Agents that are right, wrong, stuck, crashing, silent and lying: each gets its row of the outcome table."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome, OutcomeClass
from tests.controls.lab_processes import (
    Ran,
    run_suite,
    wait_until_gone,
)
from tests.fakes.control_suites import CASES, CHAT_CASES, SETTINGS, write_controls

Work = Callable[[], Path]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return lambda: tmp_path_factory.mktemp("work")


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

    assert record.reason == "it went past its limit of 5 s"  # long enough to have begun to ignore it
    assert 5000 <= record.duration_ms < 15_000
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
    assert check.reason == "1 unmatched; nearest lookup, but for path"


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
