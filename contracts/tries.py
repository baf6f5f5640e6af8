"""Which tries of a repeat are finished, and whether another one follows: one rule for a run and for its resumption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contracts.outcome import OutcomeClass
from contracts.plan import Plan
from contracts.record import Record

RETRIED = frozenset({OutcomeClass.INFRASTRUCTURE, OutcomeClass.PROVIDER})
"""An agent's own failures are never tried again."""


class LastTry(Record):
    """The last finished try of a repeat, of a run that is gone on with."""

    case_id: str
    repeat: int
    attempt: int
    outcome_class: OutcomeClass | None = None


class NextTry(Record):
    """What is still to be made of a repeat."""

    case_id: str
    repeat: int
    attempt: int
    retry_of: int | None = None


def number_of_try(attempt: int, *, repeat: int, repeats: int) -> int:
    """How many tries of the repeat came before the attempt."""
    return (attempt - repeat) // repeats


def attempt_of_try(number: int, *, repeat: int, repeats: int) -> int:
    """The attempt's number in its case, for the try of that number from 0: it does not depend on who was first."""
    return repeat + number * repeats


def next_tries(plan: Plan, finished: Iterable[LastTry]) -> Iterator[NextTry]:
    """What is to be made, in the order of the plan; everything where nothing is finished.

    A repeat whose last try died of infrastructure or provider goes on where retries are left, and one that never
    started (not-run) is made: nothing was seen of it.
    """
    last = {(one.case_id, one.repeat): one for one in finished}
    for case in plan.cases:
        for repeat in range(1, case.repeats + 1):
            before = last.get((case.case_id, repeat))
            if before is None:
                yield NextTry(case_id=case.case_id, repeat=repeat, attempt=repeat)
                continue
            number = number_of_try(before.attempt, repeat=repeat, repeats=case.repeats) + 1
            if _is_made(before.outcome_class, number=number, retries=plan.conditions.limits.infrastructure_retries):
                attempt = attempt_of_try(number, repeat=repeat, repeats=case.repeats)
                yield NextTry(case_id=case.case_id, repeat=repeat, attempt=attempt, retry_of=before.attempt)


def _is_made(outcome_class: OutcomeClass | None, *, number: int, retries: int) -> bool:
    return outcome_class is OutcomeClass.NOT_RUN or (outcome_class in RETRIED and number <= retries)
