"""Run ids."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from contracts.errors import ErrorCode, LabError
from ledger.run_id import checked_run_id, new_run_id


def test_a_run_id_names_the_utc_second_and_three_random_bytes() -> None:
    at = datetime(2026, 9, 9, 19, 1, 2, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert new_run_id(at, b"\x3f\xa9\xc1") == "run-2026-09-09-170102-3fa9c1"


def test_twelve_runs_of_one_second_differ_by_their_random_bytes() -> None:
    at = datetime(2026, 9, 9, tzinfo=UTC)
    assert len({new_run_id(at, bytes([0, 0, number])) for number in range(12)}) == 12


def test_an_instant_without_zone_and_other_amounts_of_chance_are_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        new_run_id(datetime(2026, 9, 9), b"abc")  # noqa: DTZ001 - the point of the test
    with pytest.raises(ValueError, match="3 random bytes"):
        new_run_id(datetime(2026, 9, 9, tzinfo=UTC), b"ab")


@pytest.mark.parametrize("given", ["a", "Run-1", "0.1_x", "x" * 100])
def test_a_plain_given_id_is_taken_as_it_is(given: str) -> None:
    assert checked_run_id(given) == given


@pytest.mark.parametrize("given", ["", ".", "..", "-x", "_x", "a/b", "a b", "x" * 101, "ü", "a\n", "a\x00", "a:b"])
def test_an_id_that_is_no_directory_name_everywhere_is_bad_usage(given: str) -> None:
    with pytest.raises(LabError) as caught:
        checked_run_id(given)
    assert caught.value.code is ErrorCode.BAD_USAGE
    assert "--run-id" in str(caught.value)
