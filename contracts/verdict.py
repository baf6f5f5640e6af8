"""What checks, class and faults make of an attempt: runner and driver decide by it, a reader of rows asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.attempt import AttemptRecord, Check, CheckType, FaultWitness
from contracts.outcome import Outcome, OutcomeClass, merge_outcomes


@dataclass(frozen=True)
class Verdict:
    """The judgement of one attempt."""

    outcome: Outcome
    outcome_class: OutcomeClass | None = None
    reason: str | None = None


_OF_CLASS = dict.fromkeys(OutcomeClass, Outcome.UNKNOWN) | {
    OutcomeClass.LIMIT: Outcome.FAIL,
    OutcomeClass.AGENT_ERROR: Outcome.FAIL,
}
_BEFORE_FAULTS = frozenset(
    {OutcomeClass.INFRASTRUCTURE, OutcomeClass.NOT_RUN, OutcomeClass.SETUP, OutcomeClass.SUITE, OutcomeClass.PROVIDER}
)
"""What an attempt may be although it did not meet a planned fault; after a provider's failure it may be tried again."""
_AFTER_LIMITS = frozenset({OutcomeClass.PROVIDER, OutcomeClass.AGENT_ERROR, OutcomeClass.NO_EXPECTATION})
"""What an attempt with a limit check that does not hold cannot be."""


def of_class(outcome_class: OutcomeClass, reason: str | None) -> Verdict:
    """The verdict where something else than the checks decides: each class has one outcome."""
    return Verdict(_OF_CLASS[outcome_class], outcome_class, reason)


def passed_limits(checks: Sequence[Check]) -> list[Check]:
    """The limit checks that do not hold."""
    return [check for check in checks if check.type is CheckType.LIMIT and check.outcome is Outcome.FAIL]


def missed_faults(faults: Sequence[FaultWitness]) -> list[FaultWitness]:
    """The planned faults that the attempt did not meet."""
    return [fault for fault in faults if not fault.met]


def contradiction_in(record: AttemptRecord) -> str | None:
    """Why no attempt can have this outcome and class with these checks and faults; None where they follow.

    The words of the reason are not compared: redaction may have changed them.
    """
    found = record.outcome_class
    is_by_checks = found is None or found is OutcomeClass.JUDGE
    due = by_checks(record.checks) if found is None or is_by_checks else of_class(found, record.reason)
    if (record.outcome, found) != (due.outcome, due.outcome_class):
        return f"{_said(record.outcome, found)}, although {_why(due, is_by_checks=is_by_checks)}"
    if is_by_checks and (record.reason is None) is not (due.reason is None):
        return f"{_said(record.outcome, found)} with{'out' if record.reason is None else ''} a reason"
    if passed_limits(record.checks) and (is_by_checks or found in _AFTER_LIMITS):
        return f"{_said(record.outcome, found)}, although it went past a limit"
    missed = missed_faults(record.faults or ())
    if found is OutcomeClass.FAULT_NOT_EXPOSED:
        return None if missed else f"{_said(record.outcome, found)}, although no planned fault was missed"
    # a provider's failure leaves a missed fault aside, and a limit that was passed goes before that failure
    is_allowed = found in _BEFORE_FAULTS or (found is OutcomeClass.LIMIT and passed_limits(record.checks))
    return f"{_said(record.outcome, found)}, although it missed a planned fault" if missed and not is_allowed else None


def _said(outcome: Outcome, outcome_class: OutcomeClass | None) -> str:
    return outcome.value if outcome_class is None else f"{outcome.value}/{outcome_class.value}"


def _why(due: Verdict, *, is_by_checks: bool) -> str:
    if is_by_checks:
        return f"its checks make it {_said(due.outcome, due.outcome_class)}"
    return f"that class is always {due.outcome.value}"


def by_checks(checks: Sequence[Check]) -> Verdict:
    """The verdict where nothing but the checks decides; the reason holds their names and no other text."""
    outcome = merge_outcomes(check.outcome for check in checks)
    if outcome is Outcome.PASS:
        return Verdict(outcome)
    deciding = [check for check in checks if check.outcome is outcome]
    is_judges = outcome is Outcome.UNKNOWN and any(check.type is CheckType.RELEVANCE for check in deciding)
    said = "does not hold" if outcome is Outcome.FAIL else "could not be told"
    return Verdict(outcome, OutcomeClass.JUDGE if is_judges else None, f"{named(deciding)}: {said}")


def named(checks: Sequence[Check]) -> str:
    """The names of checks, as a reason says them."""
    return ", ".join(check.name for check in checks)
