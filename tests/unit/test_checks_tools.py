"""never-tool, denied-tool, tool-order: what made and claimed calls can prove."""

from __future__ import annotations

import pytest

from contracts.attempt import Check, TrajectoryCall
from contracts.outcome import Outcome
from runner.checks.denied_tool import check_denied_tools
from runner.checks.interface import Observed
from runner.checks.never_tool import check_never_tools
from runner.checks.tool_order import check_tool_order
from tests.fakes.assignments import call_of, case_of

MADE, CLAIMED = call_of("pay"), call_of("pay", how="claimed")
DENIED = call_of("pay", status="denied", how="claimed")


def never(*calls: TrajectoryCall) -> Check:
    (found,) = check_never_tools(case_of(expect={"neverTools": ["pay"]}), Observed(calls=calls))
    return found


def denied(*calls: TrajectoryCall) -> Check:
    (found,) = check_denied_tools(case_of(expect={"deniedTools": ["pay"]}), Observed(calls=calls))
    return found


def order(*calls: TrajectoryCall) -> Check:
    (found,) = check_tool_order(case_of(expect={"toolOrder": [["ask", "pay"]]}), Observed(calls=calls))
    return found


def test_a_tool_that_was_never_called_holds() -> None:
    assert never(call_of("ask")).outcome is Outcome.PASS


@pytest.mark.parametrize(("call", "how"), [(MADE, "made"), (CLAIMED, "claimed"), (DENIED, "asked for and denied")])
def test_never_counts_what_was_made_claimed_or_asked_for(call: TrajectoryCall, how: str) -> None:
    found = never(call_of("ask"), call)

    assert found.outcome is Outcome.FAIL
    assert found.reason == f"pay was {how} as call 2"
    assert (found.expected, found.actual) == (0, 1)


def test_a_denied_tool_was_asked_for_and_refused() -> None:
    assert denied(DENIED).outcome is Outcome.PASS
    assert denied(call_of("pay", status="denied", how="unbound")).outcome is Outcome.PASS


def test_a_denied_tool_that_was_let_through_once_fails() -> None:
    found = denied(DENIED, MADE)

    assert found.outcome is Outcome.FAIL
    assert found.reason == "pay was let through 1 of 2 times, first as call 2"


def test_a_denied_tool_that_was_never_asked_for_fails() -> None:
    assert denied(call_of("ask")).reason == "pay was never asked for"


def test_an_agent_that_says_denied_of_a_call_that_it_made_is_not_believed() -> None:
    assert denied(call_of("pay", status="denied")).outcome is Outcome.FAIL


def test_order_holds_when_each_then_has_an_earlier_first() -> None:
    found = order(call_of("ask"), call_of("pay"), call_of("pay"))

    assert found.outcome is Outcome.PASS
    assert found.name == "ask before pay"
    assert found.actual == ["ask", "pay", "pay"]


@pytest.mark.parametrize("calls", [(), (call_of("ask"),), (call_of("other"),)])
def test_order_holds_when_then_is_not_called(calls: tuple[TrajectoryCall, ...]) -> None:
    assert order(*calls).outcome is Outcome.PASS


def test_order_fails_when_first_comes_too_late() -> None:
    found = order(call_of("other"), call_of("pay"), call_of("ask"))

    assert found.outcome is Outcome.FAIL
    assert found.reason == "call 2 is pay without an earlier ask"


def test_a_claimed_then_breaks_the_order() -> None:
    assert order(CLAIMED).outcome is Outcome.FAIL


@pytest.mark.parametrize("first", [call_of("ask", how="claimed"), call_of("ask", status="denied", how="unbound")])
def test_a_first_that_was_only_claimed_or_was_denied_keeps_no_order(first: TrajectoryCall) -> None:
    assert order(first, MADE).outcome is Outcome.FAIL


def test_an_unbound_first_keeps_the_order() -> None:
    assert order(call_of("ask", how="unbound"), MADE).outcome is Outcome.PASS
