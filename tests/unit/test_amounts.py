"""Amounts as strangers tell them."""

from __future__ import annotations

import json
import math

import pytest

from contracts.attempt import Usage
from runner.agents.amounts import MOST, added, amount, whole
from runner.agents.event_lines import EventLines


@pytest.mark.parametrize("value", [None, True, "1", -1, -0.5, MOST + 1, 10**400, math.inf, math.nan, 1e300])
def test_what_is_no_amount_is_none(value: object) -> None:
    assert amount(value) is None
    assert whole(value) is None


def test_amounts_stay_what_they_are_and_wholes_have_no_fraction() -> None:
    assert (amount(0), amount(1.5), amount(MOST)) == (0, 1.5, MOST)
    assert (whole(7), whole(7.0)) == (7, None)


def test_sums_end_at_the_most_that_every_reader_can_hold() -> None:
    assert added(None, None) is None
    assert (added(None, 2), added(2, None), added(2, 3)) == (2, 2, 5)
    assert added(MOST, MOST) == MOST
    assert added(1e15, 1e300) == float(MOST)


@pytest.mark.parametrize(
    "told",
    [
        '"inputTokens": 1, "outputTokens": 1, "costUsd": 1' + "0" * 400,
        '"inputTokens": 1' + "0" * 4000 + ', "outputTokens": 1',
        '"inputTokens": 1, "outputTokens": 1, "costUsd": 1e308',
        '"inputTokens": 1, "outputTokens": 1, "costUsd": Infinity',
    ],
)
def test_a_usage_beyond_all_measure_breaks_the_protocol_and_nothing_else(told: str) -> None:
    lines = EventLines(hide=str)
    lines.feed('{"type": "usage", ' + told + "}\n")
    lines.finish()
    assert (lines.broken or lines.log.text()) is not None
    assert Usage.model_validate_json(json.dumps(lines.usage.to_json())) == lines.usage


def test_many_large_amounts_add_up_to_one_that_can_be_written_down() -> None:
    lines = EventLines(hide=str)
    event = {"type": "usage", "inputTokens": MOST, "outputTokens": MOST, "costUsd": float(MOST)}
    lines.feed((json.dumps(event) + "\n") * 5)
    assert lines.broken is None
    assert lines.usage.input_tokens == MOST
    assert Usage.model_validate_json(json.dumps(lines.usage.to_json())) == lines.usage
