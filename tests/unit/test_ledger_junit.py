"""junit.xml as CI systems read it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import junitparser
import pytest

from contracts.attempt import AttemptRecord, Check, CheckType
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import Plan
from ledger.junit import junit_of
from ledger.results import results_of
from tests.fakes.written_runs import RUN_ID, attempt_of, plan_of


@pytest.fixture
def plan() -> Plan:
    return plan_of("passes", "fails", "unknown", "not-run")


@pytest.fixture
def attempts(plan: Plan) -> list[AttemptRecord]:
    order = Check(
        name="approval before refund", type=CheckType.TOOL_ORDER, outcome=Outcome.FAIL, expected=["a", "b"], actual="b"
    )
    return [
        attempt_of(plan, "passes"),
        attempt_of(plan, "fails", outcome=Outcome.FAIL, checks=(order,)),
        attempt_of(
            plan, "unknown", outcome=Outcome.UNKNOWN, outcome_class=OutcomeClass.PROVIDER, reason="401", checks=()
        ),
    ]


def test_fail_unknown_and_not_run_are_failure_error_and_skipped(plan: Plan, attempts: list[AttemptRecord]) -> None:
    root = junitparser.JUnitXml.fromstring(junit_of(results_of(plan, attempts)).decode())
    (suite,) = root
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (4, 1, 1, 1)
    assert {case.name: [type(result).__name__ for result in case.result] for case in suite} == {
        "passes": [],
        "fails": ["Failure"],
        "unknown": ["Error"],
        "not-run": ["Skipped"],
    }


def test_a_failure_names_its_check_with_expected_and_actual(plan: Plan, attempts: list[AttemptRecord]) -> None:
    tree = ET.fromstring(junit_of(results_of(plan, attempts)))  # noqa: S314 - made two lines above
    failure = tree.find(".//failure")
    assert failure is not None
    said = "approval before refund: does not hold; tool-order approval before refund"
    assert failure.attrib == {"message": said, "type": "tool-order"}
    assert failure.text == 'tool-order approval before refund: fail\n  expected: ["a", "b"]\n  actual: b'
    error = tree.find(".//error")
    assert error is not None
    assert error.attrib == {"message": "401", "type": "provider"}


def test_properties_tell_the_run_and_every_attempt_of_a_case() -> None:
    plan = plan_of("a")
    lost = attempt_of(plan, "a", outcome=Outcome.UNKNOWN, outcome_class=OutcomeClass.INFRASTRUCTURE)
    tree = ET.fromstring(junit_of(results_of(plan, [lost, attempt_of(plan, "a", attempt=2, retry_of=1)])))  # noqa: S314
    assert [(found.get("name"), found.get("value")) for found in tree.iter("property")] == [
        ("runId", RUN_ID),
        ("title", "About a"),
        ("protected", "true"),
        ("flaky", "true"),
        ("attempt.1", "repeat 1: unknown/infrastructure, 2 tool calls, 120 ms"),
        ("attempt.2", "repeat 1, retry of 1: pass, 2 tool calls, 120 ms"),
    ]


def test_characters_that_xml_cannot_carry_are_replaced_and_the_rest_comes_back() -> None:
    plan = plan_of("a")
    text = "\x00\x08\x1b[31m\ufffe\uffff tab\tline\ncr\r <&>\"' ü😀 ]]>"
    check = Check(name=text, type=CheckType.ASSERTION, outcome=Outcome.FAIL, actual=text)
    results = results_of(plan, [attempt_of(plan, "a", outcome=Outcome.FAIL, checks=(check,))])
    failure = ET.fromstring(junit_of(results)).find(".//failure")  # noqa: S314
    clean = "\ufffd\ufffd\ufffd[31m\ufffd\ufffd tab\tline\ncr\r <&>\"' ü😀 ]]>"
    assert failure is not None
    assert failure.get("message") == f"{clean}: does not hold; assertion {clean}"
    assert failure.text == f"assertion {clean}: fail\n  actual: {clean}"


def test_the_bytes_do_not_depend_on_the_xml_library_that_is_installed(
    plan: Plan, attempts: list[AttemptRecord]
) -> None:
    text = junit_of(results_of(plan, attempts)).decode()
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="labctl" tests="4" failures="1" ')
    assert "/>" not in text  # the two libraries spell empty elements differently; ours has one way
