"""The metrics of a comparison as rows of text: a mark, a name, both values, what lies between them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from contracts.comparison import Comparison, MetricDelta
from contracts.results import Summary

COLUMNS = ("METRIC", "BASELINE", "CURRENT", "DELTA")
REGRESSED, INFORMATIONAL = "!", "·"
_ABSENT = "-"


class MetricRow(NamedTuple):
    """One row; `mark` is a blank for a metric that gates and did not regress."""

    mark: str
    name: str
    baseline: str
    current: str
    delta: str


def metric_rows(comparison: Comparison) -> Iterator[MetricRow]:
    """The counts of cases first, then every metric that a side measured."""
    was, now = comparison.summary.baseline, comparison.summary.candidate
    mark = REGRESSED if comparison.cases_regressed else " "
    yield MetricRow(mark, "cases passed", _passed(was), _passed(now), _change(now.passed - was.passed))
    yield MetricRow(
        INFORMATIONAL, "cases unknown", str(was.unknown), str(now.unknown), _change(now.unknown - was.unknown)
    )
    yield MetricRow(INFORMATIONAL, "pass rate", _interval(was), _interval(now), "")
    for metric in comparison.metrics:
        yield MetricRow(_mark(metric), metric.name, plain(metric.baseline), plain(metric.candidate), _delta(metric))


def _change(count: int) -> str:
    return f"{count:+d}" if count else "0"


def _passed(summary: Summary) -> str:
    return f"{summary.passed}/{summary.planned}"


def _interval(summary: Summary) -> str:
    low, high = (Decimal(repr(rate)).quantize(Decimal("0.01")) for rate in summary.pass_rate)
    return f"[{low}, {high}]"


def _mark(metric: MetricDelta) -> str:
    if metric.regressed:
        return REGRESSED
    return " " if metric.gates and metric.state == "compared" else INFORMATIONAL


def plain(value: float | None) -> str:
    """A number without an exponent and without zeros that say nothing."""
    if value is None:
        return _ABSENT
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _delta(metric: MetricDelta) -> str:
    if metric.delta is None:
        return metric.state
    return f"{'+' if metric.delta > 0 else ''}{plain(metric.delta)}"
