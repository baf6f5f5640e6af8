"""From the attempts of one case to its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contracts.attempt import AttemptRecord, Usage
from contracts.outcome import Outcome, OutcomeClass, merge_outcomes
from contracts.plan import PlannedCase
from contracts.results import AttemptResult, CaseResult

NO_ATTEMPT = 0
"""The attempt number of a repeat that was never started."""


def case_result(planned: PlannedCase, attempts: Iterable[AttemptRecord]) -> CaseResult:
    """The case merged over its planned repeats, whatever the order in which its attempts finished.

    A repeat's outcome is its last try's. A repeat without any attempt is unknown: it has one entry of class not-run
    with attempt NO_ATTEMPT.
    """
    shown = [_shown(attempt) for attempt in sorted(attempts, key=lambda attempt: (attempt.repeat, attempt.attempt))]
    started = {attempt.repeat for attempt in shown}
    shown += [_never_started(repeat) for repeat in range(1, planned.repeats + 1) if repeat not in started]
    shown.sort(key=lambda attempt: (attempt.repeat, attempt.attempt))
    return CaseResult(
        case_id=planned.case_id,
        title=planned.title,
        protected=planned.protected,
        outcome=merge_outcomes(attempt.outcome for attempt in last_tries(shown)),
        flaky=len({attempt.outcome for attempt in shown if attempt.outcome_class is not OutcomeClass.NOT_RUN}) > 1,
        attempts=tuple(shown),
    )


def last_tries(attempts: Sequence[AttemptResult]) -> list[AttemptResult]:
    """The attempt of each repeat that decides it: the one of the highest number, in the order of the repeats."""
    last: dict[int, AttemptResult] = {}
    for attempt in attempts:
        if attempt.repeat not in last or attempt.attempt > last[attempt.repeat].attempt:
            last[attempt.repeat] = attempt
    return [last[repeat] for repeat in sorted(last)]


def is_not_run(case: CaseResult) -> bool:
    """No attempt of the case was ever started."""
    return all(attempt.outcome_class is OutcomeClass.NOT_RUN for attempt in case.attempts)


def _shown(record: AttemptRecord) -> AttemptResult:
    return AttemptResult(
        attempt=record.attempt,
        repeat=record.repeat,
        retry_of=record.retry_of,
        outcome=record.outcome,
        outcome_class=record.outcome_class,
        reason=record.reason,
        checks=record.checks,
        tool_calls=record.tool_calls,
        duration_ms=record.duration_ms,
        usage=record.usage,
        faults=record.faults,
    )


def _never_started(repeat: int) -> AttemptResult:
    return AttemptResult(
        attempt=NO_ATTEMPT,
        repeat=repeat,
        outcome=Outcome.UNKNOWN,
        outcome_class=OutcomeClass.NOT_RUN,
        reason="never started",
        tool_calls=0,
        duration_ms=0,
        usage=Usage(),
    )
