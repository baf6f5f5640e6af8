"""results.json follows from plan and attempts, whatever the order in which attempts finished."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from contracts import evidence
from contracts.attempt import Check, CheckType, Usage
from contracts.exits import Exit
from contracts.outcome import Outcome, OutcomeClass
from ledger.attempts_file import BadLineError, read_attempts
from ledger.grading import LISTED_CASES, grade_run
from ledger.junit import junit_of
from ledger.record_file import record_file
from ledger.results import exit_of, results_of
from ledger.totals import stable_rate
from tests.fakes.written_runs import attempt_of, plan_of

FAST_MODULES = "ledger.run_directory, ledger.capture, ledger.redaction, ledger.results, ledger.run_id"


def _case_ids(count: int) -> list[str]:
    return [f"case-{number:03}" for number in range(count)]


def test_one_pass_and_nine_unknown_of_ten_leave_a_rate_between_a_tenth_and_one() -> None:
    plan = plan_of(*_case_ids(10))
    attempts = [attempt_of(plan, "case-000")]
    attempts += [
        attempt_of(plan, case_id, outcome=Outcome.UNKNOWN, outcome_class=OutcomeClass.INFRASTRUCTURE)
        for case_id in _case_ids(10)[1:]
    ]
    results = results_of(plan, attempts)
    assert results.summary.pass_rate == (0.1, 1.0)
    assert (results.summary.passed, results.summary.failed, results.summary.unknown) == (1, 0, 9)
    assert exit_of(results) is Exit.CANNOT_TELL


def test_an_infrastructure_try_that_passes_when_tried_again_is_one_flaky_case_with_both_attempts() -> None:
    plan = plan_of("a")
    lost = attempt_of(plan, "a", outcome=Outcome.UNKNOWN, outcome_class=OutcomeClass.INFRASTRUCTURE, checks=())
    again = attempt_of(plan, "a", attempt=2, retry_of=1)
    (case,) = results_of(plan, [lost, again]).cases
    assert (case.outcome, case.flaky) == (Outcome.PASS, True)
    assert [(attempt.attempt, attempt.retry_of) for attempt in case.attempts] == [(1, None), (2, 1)]
    assert exit_of(results_of(plan, [lost, again])) is Exit.YES


def test_a_repeat_counts_by_its_last_try_and_a_case_merges_its_repeats() -> None:
    plan = plan_of("a", repeats=3)
    attempts = [
        attempt_of(plan, "a", attempt=1, repeat=1),
        attempt_of(plan, "a", attempt=2, repeat=2, outcome=Outcome.UNKNOWN),
        attempt_of(plan, "a", attempt=3, repeat=3),
        attempt_of(plan, "a", attempt=4, repeat=2, retry_of=2, outcome=Outcome.FAIL),
    ]
    (case,) = results_of(plan, attempts).cases
    assert (case.outcome, case.flaky) == (Outcome.FAIL, True)
    assert [attempt.attempt for attempt in case.attempts] == [1, 2, 4, 3]


def test_equal_attempts_in_any_order_give_equal_bytes() -> None:
    plan = plan_of("b", "a", repeats=2)
    attempts = [
        attempt_of(plan, case_id, attempt=number, repeat=number, usage=Usage(cost_usd=0.1 * number))
        for case_id in ("a", "b")
        for number in (1, 2)
    ]
    attempts[0] = attempts[0].model_copy(
        update={"checks": (Check(name="f1", type=CheckType.TOOL_CALLS, outcome=Outcome.PASS, score=0.1),)}
    )
    forms = {record_file(results_of(plan, order)) for order in itertools.permutations(attempts)}
    assert len(forms) == 1
    assert [case.case_id for case in results_of(plan, attempts).cases] == ["b", "a"]


def test_a_planned_case_or_repeat_without_attempt_is_unknown_and_not_run() -> None:
    plan = plan_of("a", "b", repeats=2)
    first, second = results_of(plan, [attempt_of(plan, "a")]).cases
    assert first.outcome is second.outcome is Outcome.UNKNOWN
    assert not first.flaky
    assert [attempt.attempt for attempt in first.attempts] == [1, 0]
    assert [attempt.outcome_class for attempt in second.attempts] == [OutcomeClass.NOT_RUN] * 2
    assert results_of(plan, []).summary.pass_rate == (0.0, 1.0)


def test_a_fail_outranks_an_unknown_in_the_exit() -> None:
    plan = plan_of("a", "b")
    assert exit_of(results_of(plan, [attempt_of(plan, "a", outcome=Outcome.FAIL)])) is Exit.NO


def test_an_attempt_of_a_case_that_is_not_planned_is_refused() -> None:
    stranger = attempt_of(plan_of("x"), "x")
    with pytest.raises(ValueError, match="x is not planned"):
        results_of(plan_of("a"), [stranger])


def test_metrics_count_what_was_measured_and_are_absent_otherwise() -> None:
    plan = plan_of("a", "b", "c")

    def checks(f1: float, size: Outcome, relevance: Outcome) -> tuple[Check, ...]:
        return (
            Check(name="tool-calls", type=CheckType.TOOL_CALLS, outcome=size, score=f1),
            Check(name="size", type=CheckType.SIZE, outcome=size),
            Check(name="relevance", type=CheckType.RELEVANCE, outcome=relevance),
        )

    attempts = [
        attempt_of(plan, "a", checks=checks(0.5, Outcome.FAIL, Outcome.UNKNOWN), outcome=Outcome.FAIL),
        attempt_of(plan, "b", checks=checks(1.0, Outcome.PASS, Outcome.PASS), usage=Usage(cost_usd=0.25)),
        attempt_of(plan, "c", checks=(), outcome=Outcome.UNKNOWN),
    ]
    metrics = results_of(plan, attempts).to_json()["metrics"]
    assert metrics == {
        "toolF1Mean": 0.75,
        "sizePassRate": 0.5,
        "relevanceRate": 1.0,
        "failureRate": 0.5,
        "costUsd": 0.25,
        "durationMs": 360,
    }
    assert results_of(plan, []).to_json()["metrics"] == {}


def test_a_rate_is_zero_or_one_only_when_it_is_exactly_that() -> None:
    assert stable_rate(999, 1000, digits=2) == 0.99
    assert stable_rate(1, 1000, digits=2) == 0.01
    assert stable_rate(0, 7) == 0.0
    assert stable_rate(7, 7) == 1.0
    assert stable_rate(2, 3) == 0.666667
    assert stable_rate(1, 8, digits=2) == 0.13  # half up


def test_both_ways_to_grade_give_the_same_bytes(tmp_path: Path) -> None:
    plan = plan_of(*_case_ids(LISTED_CASES + 1), repeats=2)
    attempts = [attempt_of(plan, case_id) for case_id in reversed(_case_ids(LISTED_CASES))]
    attempts.append(attempt_of(plan, "case-002", attempt=2, repeat=2, outcome=Outcome.FAIL))
    path = tmp_path / "attempts.jsonl"
    path.write_text("".join(attempt.to_line() + "\n" for attempt in attempts))
    grading = grade_run(plan, path)
    results = results_of(plan, read_attempts(path))
    assert b"".join(grading.results_pieces()) == record_file(results)
    assert b"".join(grading.junit_pieces()) == junit_of(results)
    assert json.loads(record_file(results))["summary"]["planned"] == LISTED_CASES + 1
    assert [case.case_id for case in grading.listed] == _case_ids(LISTED_CASES + 1)


def test_a_plan_without_cases_still_gives_a_results_file(tmp_path: Path) -> None:
    (tmp_path / "attempts.jsonl").touch()
    grading = grade_run(plan_of(), tmp_path / "attempts.jsonl")
    assert b"".join(grading.results_pieces()) == record_file(results_of(plan_of(), []))


def test_a_cut_line_and_a_line_that_is_no_attempt_are_named_by_number(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    line = attempt_of(plan_of("a"), "a").to_line()
    path.write_text(f"{line}\n{line}")
    with pytest.raises(BadLineError, match="line 2 is cut"):
        list(read_attempts(path))
    path.write_text(f'{line}\n{{"caseId": 3}}\n')
    with pytest.raises(BadLineError, match="line 2 is no attempt record: caseId"):
        list(read_attempts(path))


def test_an_attempt_s_value_of_null_survives_the_file(tmp_path: Path) -> None:
    plan = plan_of("a")
    check = Check(
        name="s", type=CheckType.STATE, outcome=Outcome.PASS, expected={"x": None}, actual=[None, {"y": None}]
    )
    path = tmp_path / evidence.ATTEMPTS.rpartition("/")[2]
    path.write_text(attempt_of(plan, "a", checks=(check,)).to_line() + "\n")
    assert next(read_attempts(path)).checks == (check,)


def test_the_modules_that_every_process_imports_load_no_screen_or_xml_library() -> None:
    code = (
        f"import sys, {FAST_MODULES}; print(sorted({{'rich', 'junitparser', 'click', 'fastapi'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
