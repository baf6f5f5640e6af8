"""What the checks of an attempt make of it: the runner decides so first, the driver again after the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.attempt import Check, CheckType
from contracts.outcome import Outcome, OutcomeClass, merge_outcomes


@dataclass(frozen=True)
class Verdict:
    """The judgement of one attempt."""

    outcome: Outcome
    outcome_class: OutcomeClass | None = None
    reason: str | None = None


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
