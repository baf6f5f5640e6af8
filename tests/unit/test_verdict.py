"""The outcome table of CONTRACT §4, and which row wins where two apply."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest

from contracts.attempt import AttemptRecord, Check, CheckType, FaultWitness
from contracts.outcome import Outcome, OutcomeClass
from contracts.verdict import contradiction_in
from runner.agents.interface import Ending, EndKind
from runner.verdict import Happened, decide, not_run

FINISHED = Ending(kind=EndKind.FINISHED)
CRASHED = Ending(kind=EndKind.AGENT_ERROR, reason="it exited with 3")
STOPPED = Ending(kind=EndKind.LIMIT, reason="it went past its limit of 1 s", limit="seconds")
NO_PROVIDER = Ending(kind=EndKind.PROVIDER, reason="it said that its model's provider failed")
NOT_STARTED = Ending(kind=EndKind.INFRASTRUCTURE, reason="the agent could not be started")


def check(outcome: str, *, kind: CheckType = CheckType.ASSERTION, name: str = "says so") -> Check:
    return Check(name=name, type=kind, outcome=Outcome(outcome), reason="because")


def verdict_on(ending: Ending, *checks: Check, **fields: Any) -> tuple[str, str | None]:
    verdict = decide(Happened(ending=ending, checks=checks, **fields))
    return verdict.outcome.value, verdict.outcome_class.value if verdict.outcome_class else None


PASS, FAIL, UNKNOWN = check("pass"), check("fail"), check("unknown")
JUDGE = check("unknown", kind=CheckType.RELEVANCE)
OVER = check("fail", kind=CheckType.LIMIT)


@pytest.mark.parametrize(
    ("ending", "checks", "fields", "expected"),
    [
        (FINISHED, (PASS, PASS), {}, ("pass", None)),
        (FINISHED, (PASS, FAIL), {}, ("fail", None)),
        (FINISHED, (PASS, UNKNOWN), {}, ("unknown", None)),
        (FINISHED, (PASS, JUDGE), {}, ("unknown", "judge")),
        (FINISHED, (FAIL, JUDGE), {}, ("fail", None)),
        (CRASHED, (PASS,), {}, ("fail", "agent-error")),
        (CRASHED, (FAIL,), {}, ("fail", "agent-error")),
        (CRASHED, (JUDGE,), {}, ("fail", "agent-error")),
        (STOPPED, (PASS,), {}, ("fail", "limit")),
        (FINISHED, (PASS, OVER), {}, ("fail", "limit")),
        (CRASHED, (OVER,), {}, ("fail", "limit")),
        (NO_PROVIDER, (FAIL,), {}, ("unknown", "provider")),
        (NO_PROVIDER, (OVER,), {}, ("fail", "limit")),
        (NOT_STARTED, (), {}, ("unknown", "infrastructure")),
        (FINISHED, (PASS,), {"lost": "gone"}, ("unknown", "infrastructure")),
        (CRASHED, (FAIL,), {"lost": "gone"}, ("unknown", "infrastructure")),
        (STOPPED, (), {"lost": "gone"}, ("unknown", "infrastructure")),
        (FINISHED, (PASS,), {"suite_error": "route x"}, ("unknown", "suite")),
        (CRASHED, (FAIL,), {"suite_error": "route x"}, ("unknown", "suite")),
        (CRASHED, (FAIL,), {"model_error": "no rule"}, ("unknown", "suite")),
        (STOPPED, (FAIL,), {"model_error": "no rule"}, ("unknown", "suite")),
        (NOT_STARTED, (), {"suite_error": "route x"}, ("unknown", "infrastructure")),
        (FINISHED, (PASS,), {"expects_nothing": True}, ("unknown", "no-expectation")),
        (CRASHED, (), {"expects_nothing": True}, ("fail", "agent-error")),
    ],
)
def test_the_first_row_that_applies_decides(
    ending: Ending, checks: tuple[Check, ...], fields: dict[str, Any], expected: tuple[str, str | None]
) -> None:
    assert verdict_on(ending, *checks, **fields) == expected


def test_a_reason_names_the_checks_that_decided() -> None:
    verdict = decide(Happened(ending=FINISHED, checks=(PASS, check("fail", name="a"), check("fail", name="b"))))

    assert verdict.reason == "a, b: does not hold"


def test_a_pass_needs_no_reason() -> None:
    assert decide(Happened(ending=FINISHED, checks=(PASS,))).reason is None


def test_no_check_at_all_is_never_a_pass() -> None:
    assert verdict_on(FINISHED)[0] == "unknown"


def test_the_endings_reason_is_the_verdicts() -> None:
    for ending in (CRASHED, STOPPED, NO_PROVIDER, NOT_STARTED):
        assert decide(Happened(ending=ending)).reason == ending.reason


def test_what_never_started_is_unknown() -> None:
    verdict = not_run("the fixture API is gone")

    assert (verdict.outcome, verdict.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.NOT_RUN)


def row(
    outcome: Outcome,
    outcome_class: OutcomeClass | None = None,
    *checks: Check,
    reason: str | None = None,
    faults: tuple[FaultWitness, ...] | None = None,
) -> AttemptRecord:
    return AttemptRecord(
        case_id="a",
        title="",
        protected=False,
        case_digest="",
        attempt=1,
        repeat=1,
        outcome=outcome,
        outcome_class=outcome_class,
        reason=reason,
        checks=checks,
        faults=faults,
        trajectory_digest="",
        tool_calls=0,
        started_at="",
        duration_ms=0,
    )


def witness(*, met: bool) -> FaultWitness:
    return FaultWitness(kind="response", index=0, type="status", met=met, route="r", answers=int(met))


def test_no_attempt_that_is_decided_contradicts_itself() -> None:
    endings = (FINISHED, CRASHED, STOPPED, NO_PROVIDER, NOT_STARTED, *map(of_kind, (EndKind.SETUP, EndKind.SUITE)))
    of_checks = [some for count in range(4) for some in combinations((PASS, FAIL, UNKNOWN, JUDGE, OVER), count)]
    of_faults = (None, (), (witness(met=True),), (witness(met=False),), (witness(met=True), witness(met=False)))
    others: tuple[dict[str, Any], ...] = ({}, {"lost": "x"}, {"suite_error": "x"}, {"expects_nothing": True})
    for ending, checks, faults, more in product(endings, of_checks, of_faults, others):
        made = decide(Happened(ending=ending, checks=checks, faults=faults or (), **more))
        record = row(made.outcome, made.outcome_class, *checks, reason=made.reason, faults=faults)
        assert contradiction_in(record) is None, record


def of_kind(kind: EndKind) -> Ending:
    return Ending(kind=kind, reason="so it was")


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (row(Outcome.FAIL, None, PASS), "fail, although its checks make it pass"),
        (row(Outcome.FAIL, None, PASS, reason="x"), "fail, although its checks make it pass"),
        (row(Outcome.UNKNOWN, None, PASS), "unknown, although its checks make it pass"),
        (row(Outcome.PASS, None, PASS, FAIL), "pass, although its checks make it fail"),
        (row(Outcome.PASS), "pass, although its checks make it unknown"),
        (row(Outcome.PASS, None, JUDGE), "pass, although its checks make it unknown/judge"),
        (
            row(Outcome.UNKNOWN, OutcomeClass.JUDGE, UNKNOWN, reason="x"),
            "unknown/judge, although its checks make it unknown",
        ),
        (row(Outcome.PASS, OutcomeClass.PROVIDER, PASS), "pass/provider, although that class is always unknown"),
        (row(Outcome.UNKNOWN, OutcomeClass.LIMIT, OVER), "unknown/limit, although that class is always fail"),
        (row(Outcome.PASS, None, PASS, reason="x"), "pass with a reason"),
        (row(Outcome.FAIL, None, FAIL), "fail without a reason"),
        (row(Outcome.FAIL, None, OVER, reason="x"), "fail, although it went past a limit"),
        (row(Outcome.UNKNOWN, OutcomeClass.PROVIDER, OVER), "unknown/provider, although it went past a limit"),
        (
            row(Outcome.UNKNOWN, OutcomeClass.FAULT_NOT_EXPOSED, PASS, faults=(witness(met=True),)),
            "unknown/fault-not-exposed, although no planned fault was missed",
        ),
        (row(Outcome.PASS, None, PASS, faults=(witness(met=False),)), "pass, although it missed a planned fault"),
    ],
)
def test_a_row_whose_outcome_does_not_follow_is_told_apart(record: AttemptRecord, problem: str) -> None:
    assert contradiction_in(record) == problem
