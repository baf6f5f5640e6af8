"""What is wrong with independent flags is told at once, and each thing once."""

from __future__ import annotations

from contracts.errors import ErrorCode, LabError
from driver.refusals import Refusals


def refuse(name: str) -> None:
    raise LabError(ErrorCode.ALTERED, f"{name} is not what was sealed")


def test_one_cause_that_is_met_twice_is_told_once() -> None:
    refusals = Refusals()
    for _ in range(2):
        refusals.value_of(lambda: refuse("one"))
    assert str(refusals.as_one()) == "labctl: altered: one is not what was sealed"


def test_two_causes_are_told_both() -> None:
    refusals = Refusals()
    for name in ("one", "two"):
        refusals.value_of(lambda name=name: refuse(name))  # type: ignore[misc]
    assert "(and 1 more: see `found`)" in refusals.as_one().message
