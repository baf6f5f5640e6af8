"""state: values at JSON pointers of the state at the end."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.attempt import Check
from contracts.outcome import Outcome
from runner.checks.interface import Observed
from runner.checks.state import check_state
from tests.fakes.assignments import case_of

STATE = {"orders": {"a/b": {"paid": 1}}, "refunds": [{"amount": 5}], "note": None}


def check(pointer: str, equals: Any, *, state: Any = STATE) -> Check:
    case = case_of(expect={"state": [{"pointer": pointer, "equals": equals}]})
    (found,) = check_state(case, Observed(state=state))
    return found


@pytest.mark.parametrize(
    ("pointer", "equals"),
    [
        ("/refunds/0/amount", 5),
        ("/refunds/0/amount", 5.0),
        ("/orders/a~1b", {"paid": 1}),
        ("/note", None),
        ("", STATE),
    ],
)
def test_a_value_that_is_there_and_equal_holds(pointer: str, equals: Any) -> None:
    assert check(pointer, equals).outcome is Outcome.PASS


@pytest.mark.parametrize("pointer", ["/nothing", "/refunds/1", "/refunds/-", "/refunds/x", "/note/deeper"])
def test_a_value_that_is_not_there_fails_also_when_null_is_expected(pointer: str) -> None:
    found = check(pointer, None)

    assert found.outcome is Outcome.FAIL
    assert found.reason == "there is no such value"


def test_true_is_not_one() -> None:
    assert check("/refunds/0/amount", equals=True, state={"refunds": [{"amount": 1}]}).outcome is Outcome.FAIL


def test_the_first_difference_is_named_by_its_pointer_and_both_values_are_kept() -> None:
    found = check("/refunds", [{"amount": 6}])

    assert found.reason == "they differ at /refunds/0/amount"
    assert (found.expected, found.actual) == ([{"amount": 6}], [{"amount": 5}])


def test_a_list_that_is_longer_than_expected_differs_at_its_first_extra_item() -> None:
    assert check("/refunds", []).reason == "they differ at /refunds/0"
