"""size, limit, relevance, unmatched-requests, and the names of all checks of a case."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.attempt import Check, Usage
from contracts.control import RequestMiss, UnmatchedRequest
from contracts.outcome import Outcome
from runner.checks.interface import Observed
from runner.checks.limit import check_limits
from runner.checks.relevance import check_relevance
from runner.checks.size import check_size, size_of
from runner.checks.unmatched_requests import check_unmatched_requests
from runner.judging import judge
from tests.fakes.assignments import call_of, case_of


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", "S"),
        ("a" * 499, "S"),
        ("a" * 500, "M"),
        ("ä" * 250, "M"),
        ("a" * 1499, "M"),
        ("a" * 1500, "L"),
        ("a" * 4999, "L"),
        ("a" * 5000, "XL"),
    ],
)
def test_sizes_are_utf8_bytes(text: str, size: str) -> None:
    assert size_of(text) == size


def test_size_counts_the_newlines_between_texts() -> None:
    case = case_of(expect={"size": "M"})

    (found,) = check_size(case, Observed(texts=("a" * 250, "a" * 249)))

    assert found.outcome is Outcome.PASS
    assert (found.actual, found.reason) == ("M", "the text has 500 bytes")


def limit(limits: dict[str, Any], **seen: Any) -> Check:
    (found,) = check_limits(case_of(limits=limits), Observed(**seen))
    return found


def test_a_case_without_limits_of_its_own_has_no_limit_check() -> None:
    assert not list(check_limits(case_of(), Observed(passed_limit="seconds")))


def test_calls_within_the_cases_own_limit_hold() -> None:
    found = limit({"tool_calls": 2}, calls=(call_of("a"), call_of("a")))

    assert (found.outcome, found.expected, found.actual) == (Outcome.PASS, "<= 2", 2)


def test_more_calls_than_the_cases_own_limit_fail() -> None:
    assert limit({"tool_calls": 1}, calls=(call_of("a"), call_of("a"))).outcome is Outcome.FAIL


def test_the_limit_that_ended_the_agent_fails_though_the_last_call_was_not_made() -> None:
    assert limit({"tool_calls": 1}, calls=(call_of("a"),), passed_limit="tool_calls").outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("limits", "seen"),
    [
        ({"tool_calls": 2}, {"calls": (call_of("a"), call_of("a")), "passed_limit": "tool_calls"}),
        ({"tool_calls": 2}, {"calls": (call_of("a"),) * 3, "passed_limit": "tool_calls"}),
        ({"tool_calls": 2}, {"passed_limit": "tool_calls"}),
        ({"model_calls": 2}, {"usage": Usage(model_calls=2), "passed_limit": "model_calls"}),
        ({"model_calls": 2}, {"passed_limit": "model_calls"}),
    ],
)
def test_a_refused_call_counts_in_what_the_check_says(limits: dict[str, Any], seen: dict[str, Any]) -> None:
    found = limit(limits, **seen)

    assert (found.outcome, found.expected, found.actual) == (Outcome.FAIL, "<= 2", 3)
    assert found.reason == "call 3 was refused: it went past this limit and was ended"


def test_a_limit_is_said_as_it_was_written() -> None:
    assert limit({"cost_usd": 0.5}, usage=Usage(cost_usd=0.25)).expected == "<= 0.5"
    assert limit({"seconds": 30}, seconds=1.0).expected == "<= 30"


def test_whoever_ended_the_agent_decides_about_its_time() -> None:
    assert limit({"seconds": 1}, seconds=1.01).outcome is Outcome.PASS
    assert limit({"seconds": 1}, seconds=1.01, passed_limit="seconds").outcome is Outcome.FAIL


def test_what_nothing_measured_is_unknown() -> None:
    assert limit({"cost_usd": 1.0}).outcome is Outcome.UNKNOWN
    assert limit({"model_calls": 1}).outcome is Outcome.UNKNOWN
    assert limit({"model_calls": 1}, usage=Usage(model_calls=1)).outcome is Outcome.PASS


def test_relevance_is_unknown_without_a_judge() -> None:
    case = case_of(expect={"relevance": ["it is polite"]})

    (found,) = check_relevance(case, Observed())

    assert found.outcome is Outcome.UNKNOWN
    assert found.expected == "it is polite"
    assert "next: labctl run --judge-model" in str(found.reason)


UNMATCHED = UnmatchedRequest(
    method="GET",
    path="/polici",
    nearest_route="check-policy",
    misses=(RequestMiss(part="path"), RequestMiss(part="query", name="reason", found="private")),
)


@pytest.mark.parametrize(("mode", "outcome"), [("fail", Outcome.FAIL), ("unknown", Outcome.UNKNOWN)])
def test_an_unmatched_request_is_what_the_case_says(mode: str, outcome: Outcome) -> None:
    case = case_of(expect={"unmatchedRequests": mode})

    (found,) = check_unmatched_requests(case, Observed(unmatched=(UNMATCHED,)))

    assert found.outcome is outcome
    assert found.actual == ["GET /polici"]
    assert found.reason == "1 unmatched; nearest check-policy, but for path, query reason"


def test_allowed_unmatched_requests_are_no_check_and_none_is_a_pass() -> None:
    assert not list(
        check_unmatched_requests(case_of(expect={"unmatchedRequests": "allow"}), Observed(unmatched=(UNMATCHED,)))
    )
    (found,) = check_unmatched_requests(case_of(), Observed())
    assert found.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("statements", "names"),
    [
        (["a", "a", "a (2)"], ["a", "a (3)", "a (2)"]),
        (["a (2)", "a", "a"], ["a (2)", "a", "a (3)"]),
        (["a", "a", "a (2)", "a (2)", "a"], ["a", "a (3)", "a (2)", "a (2) (2)", "a (4)"]),
    ],
)
def test_no_two_checks_have_one_name_whatever_is_written(statements: list[str], names: list[str]) -> None:
    found = judge(case_of(expect={"relevance": statements, "unmatchedRequests": "allow"}), Observed())

    assert [check.name for check in found] == [f"relevance {name}" for name in names]


def test_equal_names_are_numbered() -> None:
    case = case_of(expect={"assertions": [{"type": "contains", "value": "x"}] * 2, "unmatchedRequests": "allow"})

    assert [check.name for check in judge(case, Observed())] == ["contains x", "contains x (2)"]


def test_every_check_says_expected_and_reason() -> None:
    expect = {
        "toolCalls": [{"name": "a"}],
        "neverTools": ["b"],
        "deniedTools": ["c"],
        "toolOrder": [["d", "e"]],
        "state": [{"pointer": "/x", "equals": 1}],
        "assertions": [{"type": "contains", "value": "x"}],
        "size": "S",
        "relevance": ["y"],
    }
    limits = {"seconds": 1, "tool_calls": 1, "model_calls": 1, "cost_usd": 1}

    checks = judge(case_of(expect=expect, limits=limits), Observed())

    assert len({check.type for check in checks}) == 10
    assert all(check.expected is not None and check.reason for check in checks)
