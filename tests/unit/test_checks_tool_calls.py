"""tool-calls: five measures, with the first divergence."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.attempt import Check, TrajectoryCall
from contracts.outcome import Outcome
from runner.checks.interface import Observed
from runner.checks.tool_calls import check_tool_calls
from tests.fakes.assignments import call_of, case_of


def check(expected: list[Any], calls: list[TrajectoryCall], *, match: str = "names", min_f1: float = 1.0) -> Check:
    written = [
        {"name": call} if isinstance(call, str) else {"name": call[0], "arguments": call[1]} for call in expected
    ]
    case = case_of(expect={"toolCalls": written, "toolMatch": match, "minF1": min_f1})
    (found,) = check_tool_calls(case, Observed(calls=tuple(calls)))
    return found


def made(*names: str) -> list[TrajectoryCall]:
    return [call_of(name) for name in names]


def test_a_case_that_names_no_tool_calls_gets_no_check() -> None:
    assert not list(check_tool_calls(case_of(), Observed(calls=(call_of("a"),))))


@pytest.mark.parametrize(
    ("expected", "actual", "f1"),
    [
        ([], [], 1.0),
        ([], ["a"], 0.0),
        (["a"], [], 0.0),
        (["a", "b"], ["b", "a"], 1.0),
        (["a", "a"], ["a"], 2 / 3),
        (["a"], ["a", "a", "a"], 0.5),
        (["a", "b", "c"], ["a", "b", "d"], 2 / 3),
    ],
)
def test_names_is_f1_over_multisets_of_names(expected: list[str], actual: list[str], f1: float) -> None:
    found = check(expected, made(*actual))

    assert found.score == pytest.approx(f1, abs=1e-9)
    assert (found.outcome is Outcome.PASS) == (f1 == 1.0)


def test_names_passes_at_the_least_f1_that_the_case_asks_for() -> None:
    assert check(["a", "a"], made("a"), min_f1=2 / 3).outcome is Outcome.PASS
    assert check(["a", "a"], made("a"), min_f1=0.67).outcome is Outcome.FAIL


def test_names_says_what_is_missing_and_what_is_extra() -> None:
    found = check(["a", "b", "b"], made("a", "c"))

    assert found.reason == "F1 0.4 of at least 1; first divergence at call 2; missing b (2 times); extra c"
    assert found.expected == ["a", "b", "b"]
    assert found.actual == ["a", "c"]


def test_a_call_that_was_only_claimed_does_not_count() -> None:
    assert check(["a"], [call_of("a", how="claimed")]).score == 0.0
    assert check(["a"], [call_of("a", how="unbound")]).score == 1.0


def test_a_name_of_an_agents_own_making_is_not_quoted_at_length() -> None:
    found = check([], made("x" * 65))

    assert found.reason == "F1 0 of at least 1; first divergence at call 1; extra <a name of 65 bytes>"


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        (["a", "b"], ["b", "a"], "strict: call 1 is b instead of a"),
        (["a"], ["a", "b"], "strict: call 2, b, is one too many"),
        (["a", "b"], ["a"], "strict: call 2, b, was not made"),
    ],
)
def test_strict_names_the_first_divergence(expected: list[str], actual: list[str], reason: str) -> None:
    found = check(expected, made(*actual), match="strict")

    assert found.outcome is Outcome.FAIL
    assert found.reason == reason


def test_strict_compares_arguments_as_json_values_and_says_where_they_differ() -> None:
    expected = [("a", {"amount": 1, "tags": ["x", "y"]})]

    assert check(expected, [call_of("a", {"tags": ["x", "y"], "amount": 1.0})], match="strict").outcome is Outcome.PASS
    other = check(expected, [call_of("a", {"tags": ["x", "z"], "amount": 1})], match="strict")
    assert other.reason == "strict: call 1, a: the arguments differ at /tags/1"
    assert check(expected, [call_of("a", {"amount": True, "tags": ["x", "y"]})], match="strict").outcome is Outcome.FAIL


def test_strict_without_arguments_takes_any() -> None:
    assert check(["a"], [call_of("a", {"x": 1})], match="strict").outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("match", "expected", "actual", "holds"),
    [
        ("unordered", ["a", "b"], ["b", "a"], True),
        ("unordered", ["a", "b"], ["a"], False),
        ("unordered", ["a"], ["a", "a"], False),
        ("subset", ["a", "b"], ["a"], True),
        ("subset", ["a", "b"], ["a", "c"], False),
        ("subset", ["a"], [], True),
        ("superset", ["a"], ["b", "a"], True),
        ("superset", ["a", "a"], ["a"], False),
        ("superset", [], ["a"], True),
    ],
)
def test_the_modes_without_order_compare_multisets(
    match: str, expected: list[str], actual: list[str], holds: bool
) -> None:
    assert (check(expected, made(*actual), match=match).outcome is Outcome.PASS) == holds


def test_an_expected_call_with_arguments_chooses_before_one_without() -> None:
    found = check(["a", ("a", {"x": 1})], [call_of("a", {"x": 1}), call_of("a", {"x": 2})], match="unordered")

    assert found.outcome is Outcome.PASS


def test_the_modes_without_order_name_the_first_call_that_does_not_fit() -> None:
    assert check(["a", "b"], made("a"), match="superset").reason == "superset: missing: expected call 2, b"
    assert check(["a"], made("a", "c"), match="subset").reason == "subset: not expected: call 2, c"


def test_the_modes_without_order_say_where_the_nearest_call_differs() -> None:
    expected = [("a", {"x": 1, "y": [1, 2]})]
    actual = [call_of("b"), call_of("a", {"x": 1, "y": [1, 3]})]

    assert check(expected, actual, match="superset").reason == (
        "superset: missing: expected call 1, a; call 2 differs at /y/1"
    )
    assert check(expected, actual[1:], match="subset").reason == (
        "subset: not expected: call 1, a, which differs at /y/1"
    )


def test_a_key_of_an_agents_own_making_is_not_quoted_at_length() -> None:
    found = check([("a", {})], [call_of("a", {"x" * 64: 1})], match="strict")

    assert found.reason == "strict: call 1, a: the arguments differ at <a name of 65 bytes>"
