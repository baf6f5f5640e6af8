"""tool-order: each call of one tool needs an earlier call of another."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType, TrajectoryCall
from contracts.suite.case import Case
from runner.checks.interface import DENIED, Observed, verdict


def check_tool_order(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict for each pair; without a call of `then` it holds."""
    for first, then in case.expect.tool_order:
        early = _first_early(observed.calls, first=first, then=then)
        reason = f"every {then} had an earlier {first}"
        if early is not None:
            reason = f"call {early + 1} is {then} without an earlier {first}"
        elif all(call.tool != then for call in observed.calls):
            reason = f"{then} was not called"
        yield verdict(
            f"{first} before {then}",
            kind=CheckType.TOOL_ORDER,
            holds=early is None,
            expected=[first, then],
            actual=[call.tool for call in observed.calls if call.tool in {first, then}],
            reason=reason,
        )


def _first_early(calls: tuple[TrajectoryCall, ...], *, first: str, then: str) -> int | None:
    """The index of the first call of `then` that came too early.

    A claim can break the order but never keep it: an approval that an agent only says it asked for is none.
    """
    for index, call in enumerate(calls):
        if call.tool == then:
            return index
        if call.tool == first and call.counts and call.status != DENIED:
            return None
    return None
