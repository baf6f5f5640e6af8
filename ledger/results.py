"""From plan and attempts to results.json: equal records give equal bytes, in a run, a resume and a verification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from contracts.attempt import AttemptRecord
from contracts.exits import Exit
from contracts.plan import Plan
from contracts.results import Metrics, Results, Summary
from ledger.case_results import case_result
from ledger.record_file import pieces_around
from ledger.totals import Totals


class HasSummary(Protocol):
    """Results, whole or graded."""

    @property
    def summary(self) -> Summary:
        """The counts of outcomes."""
        ...


@dataclass(frozen=True)
class ResultsHead:
    """What results.json says before its cases."""

    run_id: str
    summary: Summary
    metrics: Metrics


def results_of(plan: Plan, attempts: Iterable[AttemptRecord]) -> Results:
    """The results with cases in the order of the plan; holds all attempts in memory.

    Raises:
        ValueError: an attempt of a case that is not planned.

    """
    by_case: dict[str, list[AttemptRecord]] = {case.case_id: [] for case in plan.cases}
    for attempt in attempts:
        if attempt.case_id not in by_case:
            raise ValueError(f"{attempt.case_id} is not planned")
        by_case[attempt.case_id].append(attempt)
    totals = Totals()
    cases = []
    for planned in plan.cases:
        cases.append(case_result(planned, by_case[planned.case_id]))
        totals.add(cases[-1])
    return Results(run_id=plan.run_id, summary=totals.summary(), metrics=totals.metrics(), cases=tuple(cases))


def results_pieces(head: ResultsHead, cases: Iterable[bytes]) -> Iterator[bytes]:
    """results.json in pieces: together the bytes of `record_file` of the whole results, which never exist as one.

    `cases` are the case results as `ledger.record_file` makes and separates listed items.
    """
    empty = Results(run_id=head.run_id, summary=head.summary, metrics=head.metrics, cases=())
    return pieces_around(empty, cases)


def exit_of(results: HasSummary) -> Exit:
    """The exit that the outcomes alone cause: a fail outranks an unknown one."""
    if results.summary.failed:
        return Exit.NO
    return Exit.CANNOT_TELL if results.summary.unknown else Exit.YES
