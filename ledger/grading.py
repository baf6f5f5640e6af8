"""What follows from plan.json and traces/attempts.jsonl: the files to write and the cases worth listing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts.exits import Exit
from contracts.outcome import Outcome
from contracts.plan import Plan
from contracts.results import CaseResult, Metrics, Summary
from ledger.attempts_file import AttemptIndex
from ledger.case_results import case_result
from ledger.junit import junit_pieces, testcase_piece
from ledger.junit_text import JUnitCounts
from ledger.packed import Packed
from ledger.record_file import listed_item
from ledger.repeats import RepeatTotals
from ledger.results import ResultsHead, exit_of, results_pieces
from ledger.totals import Totals

LISTED_CASES = 40
"""Of more cases only those that did not pass are kept as objects and listed."""


@dataclass(frozen=True)
class Grading:
    """The results of a run; of a large one, the text of every case but the objects of those not passing only."""

    run_id: str
    summary: Summary
    metrics: Metrics
    listed: tuple[CaseResult, ...]
    """All cases in the order of the plan, or, of more than LISTED_CASES, those not passing."""
    repeats_line: str | None
    """What the repeats say, where cases were repeated."""
    _cases: Packed
    _counts: JUnitCounts
    _testcases: Packed

    @property
    def exit_code(self) -> Exit:
        """The exit that the outcomes alone cause."""
        return exit_of(self)

    def results_pieces(self) -> Iterator[bytes]:
        """results.json in pieces."""
        return results_pieces(ResultsHead(self.run_id, self.summary, self.metrics), self._cases.pieces())

    def junit_pieces(self) -> Iterator[bytes]:
        """junit.xml in pieces."""
        return junit_pieces(self._counts, self._testcases.pieces(), run_id=self.run_id)


def grade_run(plan: Plan, attempts: Path) -> Grading:
    """Grade the attempts of a file by its plan, in one pass over the file and one over the plan.

    Raises:
        BadLineError: a line of the file is cut or no attempt.
        ValueError: an attempt of a case that is not planned.

    """
    index = AttemptIndex(attempts)
    planned = {case.case_id for case in plan.cases}
    for attempt in index.scan():
        if attempt.case_id not in planned:
            raise ValueError(f"{attempt.case_id} is not planned")
    return grade_indexed(plan, index)


def grade_indexed(plan: Plan, index: AttemptIndex) -> Grading:
    """Grade attempts that were scanned before."""
    totals, counts, repeats = Totals(), JUnitCounts(), RepeatTotals()
    cases, testcases, listed = Packed(), Packed(), []
    separator = b"\n"
    for planned, attempts in zip(plan.cases, index.by_case(case.case_id for case in plan.cases), strict=True):
        case = case_result(planned, attempts)
        totals.add(case)
        counts.add(case)
        repeats.add(case)
        cases.add(separator + listed_item(case))
        separator = b",\n"
        testcases.add(testcase_piece(case))
        if len(plan.cases) <= LISTED_CASES or case.outcome is not Outcome.PASS:
            listed.append(case)
    return Grading(
        run_id=plan.run_id,
        summary=totals.summary(),
        metrics=totals.metrics(),
        listed=tuple(listed),
        repeats_line=repeats.line(),
        _cases=cases,
        _counts=counts,
        _testcases=testcases,
    )
