"""What was measured beside the outcome, per case and in total: F1 of tool calls, sizes, relevance, assertions, cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contracts.attempt import CheckType
from contracts.outcome import Outcome
from contracts.results import AttemptResult, CaseResult, Metrics
from ledger.case_results import last_tries
from ledger.totals import stable_rate

_COUNTED = ((CheckType.SIZE, "size"), (CheckType.RELEVANCE, "relevance"), (CheckType.ASSERTION, "asserts"))


def case_measures(case: CaseResult) -> str:
    """`F1 0.67, size 1/1, relevance 2/3 (1 unknown), asserts 4/4, $0.0021`; empty where nothing was measured.

    Checks are those of the tries that decide the case, cost is that of everything that was tried.
    """
    tries = last_tries(case.attempts)
    return ", ".join([*_f1(tries), *_counts(tries), *_cost(case.attempts)])


def metrics_line(metrics: Metrics) -> str:
    """The measures of a run as one line for people; those that nothing measured are not in it."""
    rates = (
        ("tool F1 mean", metrics.tool_f1_mean),
        ("size", metrics.size_pass_rate),
        ("relevance", metrics.relevance_rate),
        ("assertions", metrics.assertion_rate),
    )
    parts = [f"{name} {shown_rate(value)}" for name, value in rates if value is not None]
    parts += [] if metrics.cost_usd is None else [f"cost ${metrics.cost_usd:.4f}"]
    parts += [] if metrics.duration_ms is None else [f"time of attempts {metrics.duration_ms / 1000:.2f} s"]
    return "measured: " + (", ".join(parts) or "nothing")


def shown_rate(rate: float) -> str:
    """A rate with two digits, which are 0.00 and 1.00 for exactly that only."""
    return f"{stable_rate(round(rate * 10**6), 10**6, digits=2):.2f}"


def _f1(tries: Sequence[AttemptResult]) -> Iterator[str]:
    checks = [check for attempt in tries for check in attempt.checks if check.type is CheckType.TOOL_CALLS]
    scores = [check.score for check in checks if check.score is not None]
    if scores:
        yield f"F1 {shown_rate(sum(scores) / len(scores))}"


def _counts(tries: Sequence[AttemptResult]) -> Iterator[str]:
    for kind, name in _COUNTED:
        outcomes = [check.outcome for attempt in tries for check in attempt.checks if check.type is kind]
        unknown = outcomes.count(Outcome.UNKNOWN)
        if outcomes:
            yield f"{name} {outcomes.count(Outcome.PASS)}/{len(outcomes)}" + (f" ({unknown} unknown)" * bool(unknown))


def _cost(attempts: Sequence[AttemptResult]) -> Iterator[str]:
    costs = [attempt.usage.cost_usd for attempt in attempts if attempt.usage.cost_usd is not None]
    if costs:
        yield f"${sum(costs):.4f}"
