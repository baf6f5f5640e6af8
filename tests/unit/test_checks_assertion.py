"""assertion: every type of CONTRACT §3."""

from __future__ import annotations

import time
from typing import Any

import pytest

from contracts.attempt import Check, Usage
from contracts.outcome import Outcome
from runner.checks.assertion import check_assertions
from runner.checks.interface import Observed
from tests.fakes.assignments import call_of, case_of


def check(kind: str, value: Any, *, text: str = "", name: str | None = None, **seen: Any) -> Check:
    case = case_of(expect={"assertions": [{"type": kind, "value": value, "name": name}]})
    (found,) = check_assertions(case, Observed(texts=(text,), **seen))
    return found


@pytest.mark.parametrize(
    ("kind", "value", "text", "holds"),
    [
        ("contains", "paid", "it is paid.", True),
        ("contains", "Paid", "it is paid.", False),
        ("not_contains", "paid", "it is paid.", False),
        ("not_contains", "late", "it is paid.", True),
        ("equals", "paid", "paid", True),
        ("equals", "paid", "  paid \n", True),
        ("equals", " paid\n", "paid", True),
        ("equals", "it is paid", "it  is paid", False),
        ("equals", "paid", "\x1cpaid", False),
        ("equals", "paid", "\u3000paid\x85", True),
        ("starts_with", "it", "it is paid.", True),
        ("starts_with", "is", "it is paid.", False),
        ("starts_with", "it", " it is paid.", False),
        ("ends_with", "paid.", "it is paid.", True),
        ("ends_with", "paid.", "it is paid. \n\n", True),
        ("ends_with", "paid.\n", "it is paid.\n", True),
        ("ends_with", "paid. ", "it is paid.", False),
        ("ends_with", "paid", "it is paid.", False),
        ("regex", r"(?i)PAID\.$", "it is paid.", True),
        ("regex", r"^paid", "it is paid.", False),
    ],
)
def test_assertions_about_the_text(kind: str, value: str, text: str, holds: bool) -> None:
    found = check(kind, value, text=text)

    assert (found.outcome is Outcome.PASS) == holds
    assert found.expected == {"type": kind, "value": value}
    assert found.actual == text
    assert found.reason


def test_the_judged_text_is_all_texts_joined_by_a_newline() -> None:
    case = case_of(expect={"assertions": [{"type": "equals", "value": "one\ntwo"}]})

    (found,) = check_assertions(case, Observed(texts=("one", "two")))

    assert found.outcome is Outcome.PASS


def test_the_type_is_read_whatever_its_case() -> None:
    assert check("Not_Contains", "x", text="y").outcome is Outcome.PASS


def test_a_name_replaces_the_one_made_of_type_and_value() -> None:
    assert check("contains", "x", name="says x").name == "says x"
    assert check("contains", "a  long\nvalue").name == "contains a long value"


def test_reasons_never_quote_the_text() -> None:
    for kind in ("contains", "equals", "starts_with", "ends_with", "regex", "json_schema"):
        value = {"type": "object"} if kind == "json_schema" else "nothing like it"
        assert "secret" not in str(check(kind, value, text='"secret text"').reason)


def test_a_regular_expression_that_would_hang_others_is_done_at_once() -> None:
    began = time.monotonic()

    found = check("regex", "(a+)+$", text="a" * 50_000 + "b")

    assert found.outcome is Outcome.FAIL
    assert time.monotonic() - began < 2


def test_an_expression_that_re2_refuses_is_unknown_and_says_so() -> None:
    found = check("regex", r"(?=x)", text="x")

    assert found.outcome is Outcome.UNKNOWN
    assert str(found.reason).startswith("RE2 refuses the expression")


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1}', "the JSON fits the schema"),
        ('{"a": "1"}', "the JSON does not fit the schema at /a: type"),
        ("{}", "the JSON does not fit the schema at (whole): required"),
        ("no JSON", "the text is not JSON"),
        ('{"a": NaN}', "the text is not JSON"),
    ],
)
def test_json_schema_says_where_the_text_does_not_fit(text: str, reason: str) -> None:
    found = check("json_schema", SCHEMA, text=text)

    assert found.reason == reason
    assert (found.outcome is Outcome.PASS) == (reason == "the JSON fits the schema")


def test_a_schema_never_fetches_anything() -> None:
    found = check("json_schema", {"$ref": "http://127.0.0.1:9/schema.json"}, text="1")

    assert found.outcome is Outcome.UNKNOWN
    assert found.reason == "the schema refers to http://127.0.0.1:9/schema.json, which is not in it"


def test_a_schema_that_is_none_is_unknown() -> None:
    assert check("json_schema", {"type": "nothing"}, text="1").outcome is Outcome.UNKNOWN


def test_tool_called_believes_the_journal_only() -> None:
    assert check("tool_called", "pay", calls=(call_of("pay"),)).outcome is Outcome.PASS
    assert check("tool_called", "pay", calls=(call_of("pay", how="claimed"),)).outcome is Outcome.FAIL
    assert check("tool_called", "pay", calls=(call_of("pay", how="unbound"),)).outcome is Outcome.PASS


def test_tool_not_called_takes_a_claim_for_a_call() -> None:
    assert check("tool_not_called", "pay", calls=(call_of("ask"),)).outcome is Outcome.PASS
    assert check("tool_not_called", "pay", calls=(call_of("pay", how="claimed"),)).outcome is Outcome.FAIL


def test_a_cost_that_nothing_measured_is_unknown_and_never_zero() -> None:
    assert check("cost_threshold", 1).outcome is Outcome.UNKNOWN
    assert check("cost_threshold", 1, usage=Usage(cost_usd=1.0)).outcome is Outcome.PASS
    assert check("cost_threshold", 1, usage=Usage(cost_usd=1.01)).outcome is Outcome.FAIL


def test_an_unknown_type_and_a_value_of_the_wrong_kind_are_unknown() -> None:
    assert check("rhymes", "x").outcome is Outcome.UNKNOWN
    assert check("contains", 7).outcome is Outcome.UNKNOWN
    assert check("cost_threshold", "7", usage=Usage(cost_usd=1.0)).outcome is Outcome.UNKNOWN
