"""What repeats say, with the vectors that were worked out by hand."""

from __future__ import annotations

import pytest

from contracts.outcome import Outcome
from ledger.case_results import case_result
from ledger.repeats import RepeatTotals, pass_at_k, pass_hat_k
from tests.fakes.written_runs import attempt_of, plan_of

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN


def line_of(*cases: tuple[Outcome, ...]) -> str | None:
    ids = [f"case-{number}" for number in range(len(cases))]
    plan = plan_of(*ids, repeats=len(cases[0]))
    totals = RepeatTotals()
    for planned, outcomes in zip(plan.cases, cases, strict=True):
        attempts = [
            attempt_of(plan, planned.case_id, attempt=number, repeat=number, outcome=outcome)
            for number, outcome in enumerate(outcomes, 1)
        ]
        totals.add(case_result(planned, attempts))
    return totals.line()


@pytest.mark.parametrize(("k", "hat", "at"), [(1, 0.75, 0.75), (2, 0.5357142857, 0.9642857143), (4, 0.2142857143, 1.0)])
def test_the_chances_are_those_of_drawing_without_return(k: int, hat: float, at: float) -> None:
    assert float(pass_hat_k(repeats=8, passed=6, k=k)) == pytest.approx(hat, abs=1e-9)
    assert float(pass_at_k(repeats=8, passed=6, k=k)) == pytest.approx(at, abs=1e-9)


def test_a_run_without_repeats_says_nothing_of_them() -> None:
    assert line_of((PASS,), (FAIL,)) is None


def test_the_means_are_over_cases_that_could_all_be_told() -> None:
    assert line_of((PASS, PASS, PASS, FAIL), (PASS,) * 4, (FAIL,) * 4) == (
        "4 repeats of each case: pass@1 0.583, pass@4 0.667, pass^4 0.333; 1 flaky"
    )


def test_an_unknown_repeat_is_neither_a_pass_nor_a_fail_nor_a_zero() -> None:
    assert line_of((PASS, UNKNOWN), (PASS, PASS)) == (
        "2 repeats of each case: pass@1 1.000, pass@2 1.000, pass^2 1.000; 1 flaky; "
        "1 cases are in no mean: a repeat of each is unknown"
    )
    assert line_of((UNKNOWN, UNKNOWN)) == (
        "2 repeats of each case: nothing could be told; 0 flaky; 1 cases are in no mean: a repeat of each is unknown"
    )
