"""The tolerance: in decimals, of the aggregate rates only, each against its own metric."""

from __future__ import annotations

from decimal import Decimal

import pytest

from comparison.rates import metric_deltas
from contracts.comparison import MetricDelta
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.results import Metrics
from driver.allowances import allowance_of, tolerance_of


def _deltas(was: Metrics, now: Metrics, tolerance: str = "0") -> dict[str, MetricDelta]:
    found = metric_deltas(was, now, kept=was, tolerance=Decimal(tolerance))
    return {metric.name: metric for metric in found}


@pytest.mark.parametrize(
    ("was", "now"), [(0.95, 0.9), (1.0, 0.95), (0.3, 0.25), (0.15, 0.1), (0.8, 0.75), (0.666667, 0.616667)]
)
def test_a_fall_of_exactly_the_tolerance_is_allowed_and_a_millionth_more_is_not(was: float, now: float) -> None:
    metric = _deltas(Metrics(tool_f1_mean=was), Metrics(tool_f1_mean=now), "0.05")["toolF1Mean"]
    assert (metric.regressed, metric.delta) == (False, -0.05)
    worse = round(now - 0.000001, 6)
    assert _deltas(Metrics(tool_f1_mean=was), Metrics(tool_f1_mean=worse), "0.05")["toolF1Mean"].regressed


@pytest.mark.parametrize(("was", "now"), [(0.1, 0.15), (0.0, 0.05), (0.7, 0.75), (0.9, 0.95)])
def test_a_failure_rate_may_rise_by_exactly_the_tolerance(was: float, now: float) -> None:
    assert not _deltas(Metrics(failure_rate=was), Metrics(failure_rate=now), "0.05")["failureRate"].regressed
    worse = round(now + 0.000001, 6)
    assert _deltas(Metrics(failure_rate=was), Metrics(failure_rate=worse), "0.05")["failureRate"].regressed
    assert not _deltas(Metrics(failure_rate=now), Metrics(failure_rate=was))["failureRate"].regressed


def test_a_metric_that_the_baseline_lacks_is_new_and_never_a_drop_from_zero() -> None:
    found = _deltas(Metrics(size_pass_rate=0.5), Metrics(relevance_rate=0.1))
    assert (found["relevanceRate"].state, found["relevanceRate"].delta) == ("new", None)
    assert (found["sizePassRate"].state, found["sizePassRate"].candidate) == ("gone", None)
    assert not any(metric.regressed for metric in found.values())


def test_each_metric_is_held_against_its_own() -> None:
    was = Metrics(tool_f1_mean=1.0, size_pass_rate=1.0, assertion_rate=1.0, failure_rate=0.0)
    now = Metrics(tool_f1_mean=1.0, size_pass_rate=0.9, assertion_rate=0.96, failure_rate=0.0)
    assert [name for name, metric in _deltas(was, now, "0.05").items() if metric.regressed] == ["sizePassRate"]


@pytest.mark.parametrize("text", ["0", "0.05", "1", "1.0", ".5", "5e-2", "-0", "1e-7"])
def test_a_decimal_from_0_to_1_is_taken_as_typed(text: str) -> None:
    assert tolerance_of(text) == Decimal(text)


@pytest.mark.parametrize(
    "text",
    [
        *("NaN", "nan", "inf", "-inf", "-1", "-0.01", "2", "1.0000001", "1e-400", "", " ", "0,05", "5%", "x", "0_1"),
        *("\u0660.\u0665", "0.0500000000000000000001", "1e9999999"),
    ],
)
def test_every_other_tolerance_is_refused(text: str) -> None:
    with pytest.raises(LabError) as caught:
        tolerance_of(text)
    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.BAD_TOLERANCE, Exit.USAGE)
    assert caught.value.expected


def test_everything_that_is_wrong_with_the_flags_is_told_at_once() -> None:
    with pytest.raises(LabError) as caught:
        allowance_of("NaN", drift=("sed", "prompt", "seed", "host"), removed=False)
    text = str(caught.value)
    assert 'is no KEY; did you mean "seed"?' in text
    assert '"prompt" is subject: it is named and stops nothing' in text
    assert '"host" is context' in text
    assert "'NaN' is no number" in text
