"""The metrics of both sides beside each other, and which of them got worse by more than the tolerance."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal

from comparison.sides import Side
from contracts.comparison import MetricDelta
from contracts.plan import PlannedCase
from contracts.results import Metrics
from ledger.case_results import case_result
from ledger.run_rows import attempts_of
from ledger.totals import Totals

_MORE_IS_WORSE = frozenset({"failureRate"})
_REPORTED_ONLY = frozenset({"costUsd", "durationMs"})


def metric_deltas(was: Metrics, now: Metrics, *, kept: Metrics, tolerance: Decimal | None) -> tuple[MetricDelta, ...]:
    """Every metric that a side measured, in the order of results.json; nothing regressed without a tolerance.

    Differences are taken of the decimals that results.json shows: a fall of exactly the tolerance is allowed, in
    whichever binary fractions the two rates are. `kept` is the baseline without its removed cases, which are judged as
    such: a rate that is worse only because they are gone did not regress.
    """
    before, after, without = was.to_json(), now.to_json(), kept.to_json()
    names = [field.alias or "" for field in Metrics.model_fields.values()]
    return tuple(
        _delta(name, before.get(name), after.get(name), without.get(name), tolerance=tolerance)
        for name in names
        if name in before or name in after
    )


def _delta(
    name: str, was: float | None, now: float | None, kept: float | None, *, tolerance: Decimal | None
) -> MetricDelta:
    gates = name not in _REPORTED_ONLY
    if was is None or now is None:
        return MetricDelta(
            name=name,
            baseline=was,
            candidate=now,
            state="new" if was is None else "gone",
            gates=gates,
            regressed=False,
        )
    sign = 1 if name in _MORE_IS_WORSE else -1
    worse = Decimal(0) if kept is None else min(sign * _difference(was, now), sign * _difference(kept, now))
    return MetricDelta(
        name=name,
        baseline=was,
        candidate=now,
        delta=float(_difference(was, now)),
        state="compared",
        gates=gates,
        regressed=gates and tolerance is not None and worse > tolerance,
    )


def _difference(was: float, now: float) -> Decimal:
    return Decimal(repr(now)) - Decimal(repr(was))


def totals_without(side: Side, left_out: Collection[int]) -> Totals:
    """Counts and measures of a side without the cases at those places; only the fewer cases are read again."""
    rows = side.rows
    if not left_out:
        return rows.totals
    if 2 * len(left_out) <= len(rows.cases):
        return rows.totals.minus(_totals_of(side, left_out))
    return _totals_of(side, [place for place in range(len(rows.cases)) if place not in left_out])


def _totals_of(side: Side, places: Iterable[int]) -> Totals:
    totals = Totals()
    for place in places:
        planned = PlannedCase(**side.rows.cases[place]._asdict())
        totals.add(case_result(planned, attempts_of(side.root, side.rows, place)))
    return totals
