"""state: a value of the case's state at the end."""

from __future__ import annotations

from collections.abc import Iterator

from jsonpointer import EndOfList, JsonPointerException, resolve_pointer

from contracts.attempt import Check, CheckType
from contracts.suite.case import Case
from runner.checks.interface import Observed, verdict
from runner.json_values import equal_json, first_difference


def check_state(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict for each pointer."""
    for wanted in case.expect.state:
        is_there, actual = True, None
        try:
            actual = resolve_pointer(observed.state, wanted.pointer)
            is_there = not isinstance(actual, EndOfList)
        except JsonPointerException:
            is_there = False
        holds = is_there and equal_json(wanted.equals, actual)
        reason = "the values are equal"
        if not is_there:
            reason = "there is no such value"
        elif not holds:
            place = first_difference(wanted.equals, actual, pointer=wanted.pointer)
            reason = f"they differ at {place or '(whole)'}"
        yield verdict(
            f"state {wanted.pointer or '(whole)'}",
            kind=CheckType.STATE,
            holds=holds,
            expected=wanted.equals,
            actual=actual if is_there else None,
            reason=reason,
        )
