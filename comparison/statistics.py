"""What chance says of flips between paired cases: McNemar's test, Bonett and Price's interval, what could be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Of the two-sided 95 % interval."""
Z_80 = 0.8416212335729143
"""Of a power of 80 %."""
FEWEST_FLIPS = 5
"""Fewer flips, all in one way, can never be called at 5 %."""
_POWER = 0.8
_HALVINGS = 60
_MOST_EXACT = 1000
"""Of more flips the binomial tail is taken from logarithms: exact fractions would be thousands of digits long."""


class Interval(NamedTuple):
    """A difference of pass rates, candidate minus baseline, with its 95 % interval."""

    difference: float
    low: float
    high: float


def exact_mcnemar(regressions: int, improvements: int) -> float:
    """The two-sided p of a fair coin for the flips; 1.0 where there is none, or as many of each."""
    flips, fewer = regressions + improvements, min(regressions, improvements)
    if regressions == improvements:
        return 1.0
    return min(1.0, 2 * sum(_share(flips, count) for count in range(fewer + 1)))


def mid_p_mcnemar(regressions: int, improvements: int) -> float:
    """The same with half of the weight of what was seen: exact two-sided minus C(m, b) / 2^m, where b and c differ."""
    if regressions == improvements:
        return 1.0
    return exact_mcnemar(regressions, improvements) - _share(regressions + improvements, regressions)


def bonett_price(regressions: int, improvements: int, *, paired: int) -> Interval:
    """The interval of Bonett and Price for paired proportions; the difference itself is the plain one."""
    worse, better = (regressions + 1) / (paired + 2), (improvements + 1) / (paired + 2)
    centre, half = better - worse, Z_95 * _standard_error(regressions, improvements, paired=paired)
    difference = (improvements - regressions) / paired if paired else 0.0
    return Interval(difference, max(-1.0, centre - half), min(1.0, centre + half))


def minimum_detectable_effect(regressions: int, improvements: int, *, paired: int) -> float:
    """The change of the pass rate that so many pairs with so many flips show at 5 % with a power of 80 %, at most 1."""
    return min(1.0, (Z_95 + Z_80) * _standard_error(regressions, improvements, paired=paired))


def least_effect_called(*, paired: int) -> float:
    """The smallest share of cases that flip, all one way, of which 80 % of runs show enough to call; at most 1.

    Whatever the variance says, a smaller one is not called: of `paired` cases each flips with that chance, and
    `FEWEST_FLIPS` have to.
    """
    if paired < FEWEST_FLIPS:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        fewer = sum(
            math.comb(paired, flips) * share**flips * (1 - share) ** (paired - flips) for flips in range(FEWEST_FLIPS)
        )
        low, high = (low, share) if 1 - fewer >= _POWER else (share, high)
    return high


def clustered(differences: Sequence[float]) -> Interval | None:
    """The mean of the cases' own differences; None for fewer than two cases: nothing says how much they vary."""
    count = len(differences)
    if count < 2:  # noqa: PLR2004 - a variance takes two
        return None
    mean = math.fsum(differences) / count
    variance = math.fsum((one - mean) ** 2 for one in differences) / (count - 1)
    half = Z_95 * math.sqrt(variance / count)
    return Interval(mean, max(-1.0, mean - half), min(1.0, mean + half))


def _standard_error(regressions: int, improvements: int, *, paired: int) -> float:
    worse, better = (regressions + 1) / (paired + 2), (improvements + 1) / (paired + 2)
    return math.sqrt((worse + better - (worse - better) ** 2) / (paired + 2))


def _share(flips: int, count: int) -> float:
    """C(flips, count) / 2^flips."""
    if flips <= _MOST_EXACT:
        return float(Fraction(math.comb(flips, count), 2**flips))
    log = math.lgamma(flips + 1) - math.lgamma(count + 1) - math.lgamma(flips - count + 1) - flips * math.log(2)
    return math.exp(log)
