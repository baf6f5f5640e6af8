"""Reads a run into its rows in one pass over attempts and journal, and says what its derived files must hold."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.collector import without_collector
from contracts.outcome import Outcome
from contracts.plan import PlannedCase
from contracts.verdict import contradiction_in
from ledger.behaviour import behaviour_of
from ledger.case_results import case_result, is_not_run, last_tries
from ledger.derived_files import DerivedFiles, DerivedHead
from ledger.journal_rows import read_journal
from ledger.junit_text import JUnitCounts
from ledger.plan_file import PlanFile
from ledger.quick_pieces import is_quick, quick_result, quick_testcase, whole_pieces
from ledger.repeats import RepeatTotals, pass_at_k
from ledger.run_rows import CODES, NOWHERE, Place, RunRows
from ledger.totals import Totals

_PASS = Outcome.PASS
_PASSED = CODES[Outcome.PASS]


class DoesNotFollowError(ValueError):
    """The first contradiction between the records of a run; `ledger.following` names all of them."""


class _AnotherTryError(Exception):
    """A case that was done with has another attempt."""


@dataclass(frozen=True)
class ReadRun:
    """A run's rows, and what results.json and junit.xml must be for them."""

    rows: RunRows
    derived: DerivedFiles


def read_rows(plan: PlanFile, root: Path) -> ReadRun:
    """Read attempts and journal of a run directory.

    Raises:
        DoesNotFollowError: a line that is cut or no record, or that contradicts the plan or another line.

    """
    with without_collector():
        try:
            try:
                return _Reading(plan, root, is_quick=True).whole()
            except _AnotherTryError:
                return _Reading(plan, root, is_quick=False).whole()
        except ValueError as error:  # pydantic's among them
            raise DoesNotFollowError(str(error)) from error


@dataclass(frozen=True)
class _Try:
    """One attempt of a case that is read again; `rows` is what the journal must have of it."""

    place: Place
    attempt: int
    rows: int


class _Reading:
    def __init__(self, plan: PlanFile, root: Path, *, is_quick: bool) -> None:
        self._plan, self._root = plan.head, root
        self._is_quick = is_quick
        self._index = {case.case_id: place for place, case in enumerate(plan.cases)}
        if len(self._index) != len(plan.cases):
            raise DoesNotFollowError("a case is planned twice")
        self._rows = RunRows.of(plan.cases)
        self._derived = DerivedFiles(len(plan.cases))
        self._numbers, self._rows_due = (array("q", [0]) * len(plan.cases) for _ in range(2))
        self._tries: dict[int, list[_Try]] = {}
        """Of the cases that are read again when all of their attempts are known."""
        self._deciding: dict[int, dict[int, int]] = {}
        """Of these: number of the attempt that decides each repeat -> its answers."""
        self._totals, self._counts, self._repeats = Totals(), JUnitCounts(), RepeatTotals()

    def whole(self) -> ReadRun:
        self._read_attempts()
        passed, took_ms = self._totals.summary().passed, self._totals.metrics().duration_ms
        self._counts.add_passed(passed, duration_ms=took_ms or 0)
        for place in [place for place, at in enumerate(self._rows.attempt_at) if at == NOWHERE]:
            self._tries.setdefault(place, [])
        with (self._root / evidence.ATTEMPTS).open("rb") as stream:
            for place, tries in self._tries.items():
                records = []
                for one in tries:
                    stream.seek(one.place.attempt_at)
                    records.append(AttemptRecord.model_validate_json(stream.readline()))
                self._take_whole(place, records)
        self._read_journal()
        self._rows.tries = {place: [one.place for one in tries] for place, tries in self._tries.items() if tries}
        self._rows.totals = self._totals
        self._rows.means = self._repeats.means()
        head = DerivedHead(self._plan.run_id, self._totals.summary(), self._totals.metrics(), self._counts)
        self._derived.head = head
        return ReadRun(self._rows, self._derived)

    def _read_attempts(self) -> None:
        """Take every line; a case whose only attempt simply passed is done with at once."""
        rows, index, offset = self._rows, self._index, 0
        validate = AttemptRecord.__pydantic_validator__.validate_json
        with (self._root / evidence.ATTEMPTS).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                record: AttemptRecord = validate(line)
                place = index.get(record.case_id, NOWHERE)
                if place == NOWHERE or not line.endswith(b"\n"):
                    raise DoesNotFollowError(f"line {number}: is cut, or a case that is not planned")
                _, title, protected, digest, repeats = rows.cases[place]
                if record.case_digest != digest or record.title != title or record.protected is not protected:
                    raise DoesNotFollowError(f"line {number}: is another case than the planned one")
                if not 1 <= record.repeat <= repeats or record.attempt < 1:
                    raise DoesNotFollowError(f"line {number}: was not planned")
                if rows.attempt_at[place] == NOWHERE:
                    rows.attempt_at[place], rows.attempt_line[place] = offset, number
                elif place not in self._tries:
                    raise _AnotherTryError
                if repeats == 1 and self._is_quick and place not in self._tries and is_quick(record):
                    self._take_quick(place, record)
                else:
                    found = _Try(Place(offset, number), record.attempt, record.journal_rows)
                    self._tries.setdefault(place, []).append(found)
                offset += len(line)

    def _take_quick(self, place: int, record: AttemptRecord) -> None:
        rows, case = self._rows, self._rows.cases[place]
        if not record.checks:
            raise DoesNotFollowError(f"{case.case_id}: passed without a check")
        for check in record.checks:
            if check.outcome is not _PASS:
                raise DoesNotFollowError(f"{case.case_id}: passed, although a check of it did not")
        rows.outcomes[place] = _PASSED
        rows.behaviour[place] = behaviour_of(record, level=self._plan.capture)
        self._numbers[place], self._rows_due[place] = record.attempt, record.journal_rows
        self._totals.add_passed(record)
        self._derived.expect(place, quick_result(case, record), quick_testcase(case, record))

    def _take_whole(self, place: int, records: list[AttemptRecord]) -> None:
        """A case through records of results: one that did not simply pass, was repeated, retried, or never started."""
        rows, case = self._rows, self._rows.cases[place]
        _refuse_contradictions(records)
        result = case_result(PlannedCase(**case._asdict()), records)
        for counted in (self._totals, self._counts, self._repeats):
            counted.add(result)
        self._derived.expect(place, *whole_pieces(result))
        by_number = {record.attempt: record for record in records}
        deciding = [by_number[one.attempt] for one in last_tries(result.attempts) if one.attempt in by_number]
        self._deciding[place] = {record.attempt: 0 for record in deciding}
        rows.outcomes[place] = CODES[result.outcome]
        rows.behaviour[place] = hash(
            tuple((one.repeat, behaviour_of(one, level=self._plan.capture)) for one in deciding)
            if case.repeats > 1
            else behaviour_of(deciding[0], level=self._plan.capture)
            if deciding
            else is_not_run(result)
        )
        told = [one.outcome for one in last_tries(result.attempts)]
        if Outcome.UNKNOWN not in told:
            share = pass_at_k(repeats=len(told), passed=told.count(Outcome.PASS), k=1)
            rows.passed_share[place] = float(share)

    def _read_journal(self) -> None:
        """Every block of rows belongs to one attempt, and every attempt has as many rows as its line says."""
        rows, due = self._rows, self._rows_due
        blocks = {(place, one.attempt): one for place, tries in self._tries.items() for one in tries}
        for case_id, attempt, count, answers, offset, line, _ in read_journal(self._root / evidence.JOURNAL):
            place = self._index.get(case_id, NOWHERE)
            if place != NOWHERE and due[place] == count and self._numbers[place] == attempt:
                due[place] = 0
                rows.answers[place] = answers
                rows.journal_at[place], rows.journal_line[place] = offset, line
                continue
            one = blocks.pop((place, attempt), None)
            if one is None or one.rows != count:
                raise DoesNotFollowError(f"line {line}: rows that are not those of an attempt")
            one.place.journal_at, one.place.journal_line = offset, line
            if attempt in self._deciding[place]:
                self._deciding[place][attempt] = answers
        if any(due) or any(one.rows for one in blocks.values()):
            raise DoesNotFollowError("rows of an attempt are missing")
        for place, of_repeats in self._deciding.items():
            rows.answers[place] = _together([*of_repeats.values()])


def _together(answers: list[int]) -> int:
    """One number for the answers of all repeats; that of the only one where there is one."""
    return answers[0] if len(answers) == 1 else hash(tuple(answers))


def _refuse_contradictions(records: list[AttemptRecord]) -> None:
    repeats: dict[int, int] = {}
    for record in records:
        if record.attempt in repeats:
            raise DoesNotFollowError(f"{record.case_id}: attempt {record.attempt} stands twice")
        if record.retry_of is not None and repeats.get(record.retry_of) != record.repeat:
            raise DoesNotFollowError(f"{record.case_id}: attempt {record.attempt} is a retry of no earlier one")
        if problem := contradiction_in(record):
            raise DoesNotFollowError(f"{record.case_id}: {problem}")
        repeats[record.attempt] = record.repeat
