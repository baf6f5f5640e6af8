"""The sample agent's own rules, where the clean suite cannot show them: trouble with a tool."""

from __future__ import annotations

import runpy
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DESK = Path(__file__).parents[2] / "fixtures" / "agents" / "desk.py"
ORDER = {
    "order_id": "synthetic-1",
    "customer_id": "customer-1",
    "amount": 500,
    "status": "delivered",
    "delivered_on": "2026-08-30",
    "final_sale": False,
}
POLICY = {"window_days": 30, "approval_above": 10000}


@pytest.fixture(scope="module")
def desk() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(DESK)))  # an import would leave a __pycache__ in the suite


class FakeTools:
    """Answers each call with the next planned answer of that tool; an exception is raised."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.called: list[str] = []

    def call(self, name: str, **_: Any) -> Any:
        self.called.append(name)
        answer = self.answers[name].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def say(desk: SimpleNamespace, tools: FakeTools, text: str) -> str:
    answer: str = desk.Desk(tools, policy="", today=date(2026, 9, 1)).answer(text)
    return answer


def test_a_policy_that_times_out_once_is_checked_again(desk: SimpleNamespace) -> None:
    lost = desk.ToolError("check_policy", status=None)
    tools = FakeTools(lookup_order=[ORDER], check_policy=[lost, POLICY], issue_refund=[{}], notify_customer=[{}])
    assert "has been issued" in say(desk, tools, "synthetic-1 came broken")
    assert tools.called == ["lookup_order", "check_policy", "check_policy", "issue_refund", "notify_customer"]


def test_a_policy_that_stays_away_means_no_refund(desk: SimpleNamespace) -> None:
    lost = desk.ToolError("check_policy", status=None)
    tools = FakeTools(lookup_order=[ORDER], check_policy=[lost, lost])
    assert "refunded nothing" in say(desk, tools, "synthetic-1 came broken")
    assert tools.called == ["lookup_order", "check_policy", "check_policy"]


def test_a_refund_whose_answer_is_lost_is_not_sent_twice(desk: SimpleNamespace) -> None:
    lost = desk.ToolError("issue_refund", status=None)
    tools = FakeTools(lookup_order=[ORDER], check_policy=[POLICY], issue_refund=[lost])
    assert "A colleague will look at it" in say(desk, tools, "synthetic-1 came broken")
    assert tools.called.count("issue_refund") == 1


@pytest.mark.parametrize(("age", "refunds"), [(30, True), (31, False)])
def test_the_last_day_of_the_window_still_counts(desk: SimpleNamespace, age: int, refunds: bool) -> None:
    order = ORDER | {"delivered_on": date.fromordinal(date(2026, 9, 1).toordinal() - age).isoformat()}
    tools = FakeTools(lookup_order=[order], check_policy=[POLICY], issue_refund=[{}], notify_customer=[{}])
    say(desk, tools, "I changed my mind about synthetic-1")
    assert ("issue_refund" in tools.called) is refunds
