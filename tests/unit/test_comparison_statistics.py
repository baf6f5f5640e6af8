"""What chance says of flips, to six digits, and the sentences that say it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from comparison.statistic_text import flips_sentence, statistics_of
from comparison.statistics import (
    FEWEST_FLIPS,
    bonett_price,
    clustered,
    exact_mcnemar,
    mid_p_mcnemar,
    minimum_detectable_effect,
)
from ledger.repeats import pass_at_k, pass_hat_k


def test_mcnemar_agrees_with_the_vectors() -> None:
    assert exact_mcnemar(10, 3) == pytest.approx(0.0922852, abs=1e-6)
    assert mid_p_mcnemar(10, 3) == pytest.approx(0.057373, abs=1e-6)
    assert exact_mcnemar(25, 15) == pytest.approx(0.15386, abs=1e-6)


@pytest.mark.parametrize(("worse", "better"), [(0, 0), (1, 1), (7, 7), (600, 600)])
def test_as_many_flips_each_way_say_nothing(worse: int, better: int) -> None:
    assert exact_mcnemar(worse, better) == mid_p_mcnemar(worse, better) == 1.0


@pytest.mark.parametrize(("worse", "better"), [(3, 10), (5, 0), (0, 1), (400, 300), (900, 700)])
def test_the_test_is_the_same_in_both_ways(worse: int, better: int) -> None:
    assert exact_mcnemar(worse, better) == pytest.approx(exact_mcnemar(better, worse))
    assert mid_p_mcnemar(worse, better) == pytest.approx(mid_p_mcnemar(better, worse))
    assert 0 <= mid_p_mcnemar(worse, better) < exact_mcnemar(worse, better) <= 1


def test_many_flips_are_worked_out_by_logarithms_to_the_same_number() -> None:
    exact = 2 * sum(Fraction(_choose(1001, count), 2**1001) for count in range(460 + 1))
    assert exact_mcnemar(541, 460) == pytest.approx(float(exact), rel=1e-9)


def _choose(whole: int, part: int) -> int:
    import math  # noqa: PLC0415 - beside its use

    return math.comb(whole, part)


def test_bonett_and_price_agree_with_the_vectors() -> None:
    interval = bonett_price(10, 3, paired=200)
    assert (interval.low, interval.high) == pytest.approx((-0.0719271, 0.0026202), abs=1e-6)
    assert interval.difference == pytest.approx(-0.035)
    interval = bonett_price(0, 0, paired=50)
    assert (interval.low, interval.high) == pytest.approx((-0.053304, 0.053304), abs=1e-6)


def test_pass_at_k_and_pass_hat_k_agree_with_the_vectors() -> None:
    assert float(pass_hat_k(repeats=8, passed=6, k=2)) == pytest.approx(0.536, abs=5e-4)
    assert float(pass_hat_k(repeats=8, passed=6, k=4)) == pytest.approx(0.214, abs=5e-4)
    assert float(pass_at_k(repeats=8, passed=6, k=2)) == pytest.approx(0.964, abs=5e-4)


def test_what_could_be_seen_shrinks_with_the_number_of_cases_and_is_never_more_than_all() -> None:
    effects = [minimum_detectable_effect(0, 0, paired=paired) for paired in (1, 10, 100, 1000)]
    assert effects == sorted(effects, reverse=True)
    assert effects[0] == 1.0
    assert effects[-1] == pytest.approx((1.959964 + 0.841621) * (2 / 1002 / 1002) ** 0.5, rel=1e-4)


def test_repeats_are_clustered_by_case() -> None:
    interval = clustered([0.0, -0.5, 0.0, -0.5])
    assert interval is not None
    assert interval.difference == -0.25
    assert (interval.low, interval.high) == pytest.approx((-0.25 - 0.282896, -0.25 + 0.282896), abs=1e-5)
    assert clustered([0.5]) is None


@pytest.mark.parametrize(
    ("worse", "better", "paired", "sentence"),
    [
        (0, 0, 40, "No flip of 40 paired cases."),
        (3, 0, 40, "3 flips one way of 40 paired cases: too few to call."),
        (0, 4, 1000, "4 flips one way of 1000 paired cases: too few to call."),
        (1, 0, 1, "1 flip one way of 1 paired case: too few to call."),
        (
            6,
            0,
            40,
            "6 flips one way of 40 paired cases: more than chance explains (p = 0.0156); the candidate is worse.",
        ),
        (10, 3, 200, "10 flips to fail and 3 to pass of 200 paired cases: chance alone does as much (p = 0.057)."),
    ],
)
def test_a_sentence_says_what_the_flips_mean(worse: int, better: int, paired: int, sentence: str) -> None:
    assert flips_sentence(worse, better, paired=paired, mid_p=mid_p_mcnemar(worse, better)) == sentence


@pytest.mark.parametrize(
    ("paired", "told"), [(5, "96%"), (6, "87%"), (20, "32%"), (200, "3.4%"), (1500, "0.45%"), (100_000, "0.0068%")]
)
def test_a_change_that_would_be_shown_is_one_that_would_be_called(paired: int, told: str) -> None:
    effect = float(told.rstrip("%")) / 100
    called = 1 - sum(
        math.comb(paired, flips) * effect**flips * (1 - effect) ** (paired - flips) for flips in range(FEWEST_FLIPS)
    )
    assert called >= 0.8
    assert told in statistics_of(0, 0, paired=paired, shares=None).sentences[1]


@pytest.mark.parametrize("paired", [1, 2, 4])
def test_fewer_cases_than_flips_are_needed_could_show_nothing(paired: int) -> None:
    said = "So few cases could show no change of the pass rate with any certainty."
    assert statistics_of(0, 0, paired=paired, shares=None).sentences[1] == said


def test_a_chance_that_is_next_to_none_is_not_called_none() -> None:
    said = statistics_of(1500, 0, paired=1500, shares=None).sentences[0]
    assert said.endswith("more than chance explains (p < 0.001); the candidate is worse.")


def test_below_five_flips_one_way_nothing_is_called() -> None:
    assert mid_p_mcnemar(4, 0) > 0.05 > mid_p_mcnemar(5, 0)


def test_the_record_holds_what_was_worked_out() -> None:
    told = statistics_of(10, 3, paired=200, shares=None)
    assert (told.paired, told.regressions, told.improvements, told.clustered) == (200, 10, 3, None)
    said = "So many cases would show a change of the pass rate of 5.4% or more four times out of five."
    assert told.sentences[1] == said
    assert -1 <= told.low <= told.difference <= told.high <= 1
