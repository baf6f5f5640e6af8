"""The checks of a case that do not say what they said."""

from __future__ import annotations

from collections.abc import Iterator

from comparison.shown_values import shown, shown_pair
from contracts.attempt import AttemptRecord, Check
from contracts.comparison import FlippedCheck
from contracts.outcome import Outcome
from ledger.run_rows import DecidingAttempt


def flipped_checks(
    baseline: dict[int, DecidingAttempt], candidate: dict[int, DecidingAttempt], *, is_whole: bool
) -> tuple[FlippedCheck, ...]:
    """Of the first repeat in which one flipped; `is_whole`: both runs keep bodies."""
    for repeat in sorted(baseline.keys() & candidate.keys()):
        if flipped := tuple(_flipped(baseline[repeat].record, candidate[repeat].record, is_whole=is_whole)):
            return flipped
    return ()


def _flipped(was: AttemptRecord, now: AttemptRecord, *, is_whole: bool) -> Iterator[FlippedCheck]:
    before, after = ({check.name: check for check in record.checks} for record in (was, now))
    for name in [*before, *(name for name in after if name not in before)]:
        one, other = before.get(name), after.get(name)
        if one is None or other is None or (one.outcome, one.score) != (other.outcome, other.score):
            yield _flip(one, other, is_whole=is_whole)


def _flip(one: Check | None, other: Check | None, *, is_whole: bool) -> FlippedCheck:
    check = other or one
    assert check is not None  # noqa: S101 - a name stands on one side at least
    actuals = shown_pair(one.actual if one else None, other.actual if other else None, is_whole=is_whole)
    telling = one if other is None or (one is not None and other.outcome is Outcome.PASS) else other
    return FlippedCheck(
        name=check.name,
        type=check.type,
        was=one.outcome if one else None,
        now=other.outcome if other else None,
        expected=shown(check.expected, is_whole=is_whole),
        baseline_actual=actuals[0],
        actual=actuals[1],
        reason=shown(telling.reason, is_whole=True) if telling else None,
    )
