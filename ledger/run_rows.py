"""A run's cases as columns of numbers: what a comparison looks at, in a fraction of what records would take."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.outcome import Outcome
from ledger.plan_file import PlannedRow
from ledger.repeats import Means
from ledger.totals import Totals

OUTCOMES = (Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN)
"""By their codes in `RunRows.outcomes`."""
CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}
NOWHERE = -1


@dataclass
class RunRows:
    """Every list and array has one entry for each planned case, in the order of the plan.

    Numbers of behaviour and answers are equal for equal ones in one process and its forks only.
    """

    cases: tuple[PlannedRow, ...]
    outcomes: bytearray
    behaviour: array[int]
    """See `ledger.behaviour`; of several repeats together."""
    answers: array[int]
    """See `ledger.journal_rows`; of the attempts that decide the case."""
    attempt_at: array[int]
    """Byte offset of the line of the case's first attempt; NOWHERE for none."""
    attempt_line: array[int]
    journal_at: array[int]
    """Byte offset of the journal's first row of that attempt; NOWHERE for none."""
    journal_line: array[int]
    totals: Totals
    means: Means | None
    """What repeats say; None: no case was repeated."""
    tries: dict[int, list[Place]] = field(default_factory=dict)
    """Every attempt of the cases that did not simply pass at once."""
    passed_share: dict[int, float] = field(default_factory=dict)
    """Of the cases in `tries` that could be told: how many of their repeats passed, in [0, 1]."""

    @classmethod
    def of(cls, cases: tuple[PlannedRow, ...]) -> RunRows:
        """The rows of cases of which nothing is known yet."""
        count = len(cases)
        return cls(
            cases=cases,
            outcomes=bytearray([CODES[Outcome.UNKNOWN]]) * count,
            behaviour=array("q", [0]) * count,
            answers=array("q", [0]) * count,
            attempt_at=array("q", [NOWHERE]) * count,
            attempt_line=array("q", [0]) * count,
            journal_at=array("q", [NOWHERE]) * count,
            journal_line=array("q", [0]) * count,
            totals=Totals(),
            means=None,
        )

    @property
    def index(self) -> dict[str, int]:
        """Case id to its place; made anew each time."""
        return {case.case_id: place for place, case in enumerate(self.cases)}

    def outcome(self, place: int) -> Outcome:
        """Of the case at a place, merged over its repeats."""
        return OUTCOMES[self.outcomes[place]]

    def places(self, place: int) -> list[Place]:
        """Where the attempts of a case stand, in the order of the file; none for a case that was never started."""
        if place in self.tries:
            return self.tries[place]
        if self.attempt_at[place] == NOWHERE:
            return []
        return [
            Place(self.attempt_at[place], self.attempt_line[place], self.journal_at[place], self.journal_line[place])
        ]


@dataclass
class Place:
    """Where one attempt stands in the evidence."""

    attempt_at: int
    attempt_line: int
    journal_at: int = NOWHERE
    journal_line: int = 0


@dataclass(frozen=True)
class DecidingAttempt:
    """The attempt that decides a repeat, and where it stands."""

    record: AttemptRecord
    place: Place


def attempts_of(root: Path, rows: RunRows, place: int) -> list[AttemptRecord]:
    """Every attempt of a case, read again from the run directory whose rows these are, in the order of the file."""
    return [record for _, record in _read(root, rows.places(place))]


def deciding_attempts(root: Path, rows: RunRows, place: int) -> dict[int, DecidingAttempt]:
    """By repeat the last try of a case, likewise."""
    deciding: dict[int, DecidingAttempt] = {}
    for found, record in _read(root, rows.places(place)):
        best = deciding.get(record.repeat)
        if best is None or record.attempt > best.record.attempt:
            deciding[record.repeat] = DecidingAttempt(record, found)
    return dict(sorted(deciding.items()))


def _read(root: Path, places: list[Place]) -> Iterator[tuple[Place, AttemptRecord]]:
    if not places:
        return
    with (root / evidence.ATTEMPTS).open("rb") as stream:
        for place in places:
            stream.seek(place.attempt_at)
            yield place, AttemptRecord.model_validate_json(stream.readline())
