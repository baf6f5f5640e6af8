"""What was measured beside the outcome, as the summary shows it."""

from __future__ import annotations

from contracts.attempt import Check, CheckType, Usage
from contracts.outcome import Outcome
from contracts.results import AttemptResult, CaseResult, Metrics
from ledger.measures import case_measures, metrics_line, shown_rate


def _check(kind: CheckType, outcome: Outcome, *, score: float | None = None) -> Check:
    return Check(name=f"{kind} {outcome}", type=kind, outcome=outcome, score=score)


def _case(*attempts: AttemptResult) -> CaseResult:
    return CaseResult(case_id="c", title="c", protected=False, outcome=Outcome.PASS, flaky=False, attempts=attempts)


def _attempt(number: int, *checks: Check, cost: float | None = None, repeat: int = 1) -> AttemptResult:
    return AttemptResult(
        attempt=number,
        repeat=repeat,
        outcome=Outcome.PASS,
        checks=checks,
        tool_calls=0,
        duration_ms=1,
        usage=Usage(cost_usd=cost),
    )


def test_a_case_shows_each_measure_that_was_taken_and_no_other() -> None:
    case = _case(
        _attempt(
            1,
            _check(CheckType.TOOL_CALLS, Outcome.FAIL, score=2 / 3),
            _check(CheckType.SIZE, Outcome.PASS),
            _check(CheckType.RELEVANCE, Outcome.PASS),
            _check(CheckType.RELEVANCE, Outcome.UNKNOWN),
            _check(CheckType.ASSERTION, Outcome.FAIL),
            cost=0.0021,
        )
    )
    assert case_measures(case) == "F1 0.67, size 1/1, relevance 1/2 (1 unknown), asserts 0/1, $0.0021"
    assert case_measures(_case(_attempt(1, _check(CheckType.STATE, Outcome.PASS)))) == ""


def test_checks_are_those_of_the_tries_that_decide_and_cost_is_that_of_all() -> None:
    lost = _attempt(1, _check(CheckType.ASSERTION, Outcome.UNKNOWN), cost=0.5)
    decided = _attempt(2, _check(CheckType.ASSERTION, Outcome.PASS), cost=0.25)
    assert case_measures(_case(lost, decided)) == "asserts 1/1, $0.7500"


def test_the_line_of_a_run_holds_the_measures_that_were_taken() -> None:
    metrics = Metrics(tool_f1_mean=0.9996, relevance_rate=0.5, cost_usd=0.01234, duration_ms=1500)
    assert metrics_line(metrics) == "measured: tool F1 mean 0.99, relevance 0.50, cost $0.0123, time of attempts 1.50 s"
    assert metrics_line(Metrics()) == "measured: nothing"


def test_a_rate_is_shown_as_one_or_zero_for_exactly_that_only() -> None:
    assert [shown_rate(rate) for rate in (0.0, 0.0001, 0.5, 0.9999, 1.0)] == ["0.00", "0.01", "0.50", "0.99", "1.00"]
