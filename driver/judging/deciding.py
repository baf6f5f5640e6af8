"""An attempt with the judge's verdicts in it: pure, and decided by the code that the runner decides with."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.attempt import AttemptRecord, Check, CheckType, JudgeVerdict
from contracts.outcome import Outcome, OutcomeClass
from contracts.verdict import by_checks
from driver.judging.judge import Told


def statements_of(record: AttemptRecord) -> tuple[Check, ...]:
    """The relevance checks that wait for a judge; their `expected` is the statement."""
    return tuple(check for check in record.checks if _waits(check))


def is_decided_by_checks(record: AttemptRecord) -> bool:
    """Whether a verdict of the judge could mean anything: nothing else decided the attempt already."""
    return record.outcome_class in {None, OutcomeClass.JUDGE}


def left_unjudged(record: AttemptRecord) -> AttemptRecord:
    """The attempt with the reason why nobody was asked."""
    decided = f"{record.outcome.value}/{record.outcome_class.value if record.outcome_class else '-'}"
    reason = f"not judged: the attempt is {decided} whatever a judge would say"
    checks = tuple(check.model_copy(update={"reason": reason}) if _waits(check) else check for check in record.checks)
    return record.model_copy(update={"checks": checks})


def with_verdicts(record: AttemptRecord, told: Mapping[str, Told]) -> AttemptRecord:
    """The attempt decided anew; `told` has the name of each check that waited."""
    checks = tuple(_judged(check, told.get(check.name)) for check in record.checks)
    verdict = by_checks(checks)
    return record.model_copy(
        update={
            "checks": checks,
            "judge_verdicts": tuple(JudgeVerdict(check=name, votes=one.votes) for name, one in told.items()),
            "outcome": verdict.outcome,
            "outcome_class": verdict.outcome_class,
            "reason": verdict.reason,
        }
    )


def _waits(check: Check) -> bool:
    return check.type is CheckType.RELEVANCE and check.outcome is Outcome.UNKNOWN


def _judged(check: Check, told: Told | None) -> Check:
    return check if told is None else check.model_copy(update={"outcome": told.outcome, "reason": told.reason})
