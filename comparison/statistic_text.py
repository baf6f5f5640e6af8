"""The statistics of a comparison as a record, with sentences for people who have never met a p-value."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal

from comparison.statistics import (
    FEWEST_FLIPS,
    bonett_price,
    clustered,
    exact_mcnemar,
    least_effect_called,
    mid_p_mcnemar,
    minimum_detectable_effect,
)
from contracts.comparison import Clustered, Statistics

_ALPHA = 0.05
_LEAST_P = 0.001
_DIGITS = 6


def statistics_of(regressions: int, improvements: int, *, paired: int, shares: Sequence[float] | None) -> Statistics:
    """The record for so many flips of so many paired cases, of which there is at least one.

    `shares` are, of a comparison with repeats, the changes of each case's share of passing repeats; None: no repeats.
    """
    interval = bonett_price(regressions, improvements, paired=paired)
    mid_p = mid_p_mcnemar(regressions, improvements)
    effect = minimum_detectable_effect(regressions, improvements, paired=paired)
    by_case = None if shares is None else clustered(shares)
    return Statistics(
        paired=paired,
        regressions=regressions,
        improvements=improvements,
        exact_p=_rounded(exact_mcnemar(regressions, improvements)),
        mid_p=_rounded(mid_p),
        difference=_rounded(interval.difference),
        low=_rounded(interval.low),
        high=_rounded(interval.high),
        minimum_detectable_effect=_rounded(effect),
        clustered=None
        if by_case is None or shares is None
        else Clustered(
            cases=len(shares),
            difference=_rounded(by_case.difference),
            low=_rounded(by_case.low),
            high=_rounded(by_case.high),
        ),
        sentences=(
            flips_sentence(regressions, improvements, paired=paired, mid_p=mid_p),
            effect_sentence(max(effect, least_effect_called(paired=paired))),
        ),
    )


def effect_sentence(effect: float) -> str:
    """How large a change so many cases would have shown."""
    if effect >= 1:
        return "So few cases could show no change of the pass rate with any certainty."
    return f"So many cases would show a change of the pass rate of {_percent(effect)} or more four times out of five."


def flips_sentence(regressions: int, improvements: int, *, paired: int, mid_p: float) -> str:
    """What the flips alone say."""
    flips, of_cases = regressions + improvements, f"of {paired} paired case{'s' * (paired != 1)}"
    if not flips:
        return f"No flip {of_cases}."
    said = _said(regressions, improvements)
    if max(regressions, improvements) == flips and flips < FEWEST_FLIPS:
        return f"{said} {of_cases}: too few to call."
    if mid_p < _ALPHA:
        way = "worse" if regressions > improvements else "better"
        return f"{said} {of_cases}: more than chance explains ({_chance(mid_p)}); the candidate is {way}."
    return f"{said} {of_cases}: chance alone does as much (p = {mid_p:.2g})."


def _chance(p: float) -> str:
    return "p < 0.001" if p < _LEAST_P else f"p = {p:.3g}"


def _percent(share: float) -> str:
    """Two digits, rounded up: a smaller change would not be shown."""
    percent = Decimal(f"{100 * share:.9g}")
    last = Decimal(1).scaleb(min(0, percent.adjusted() - 1))
    return f"{percent.quantize(last, ROUND_CEILING)}%"


def _said(regressions: int, improvements: int) -> str:
    flips = regressions + improvements
    if regressions and improvements:
        return f"{regressions} flip{'s' * (regressions != 1)} to fail and {improvements} to pass"
    return f"{flips} flip{'s' * (flips != 1)} one way"


def _rounded(value: float) -> float:
    """Ten digits are more than anybody reads, and the same on every machine."""
    return round(value, 2 * _DIGITS) + 0.0
