"""What an unsealed run has finished: its attempts with their journal rows, and where the files end that a kill left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.errors import Found
from contracts.plan import Plan
from contracts.tries import LastTry
from ledger.attempts_file import AttemptIndex, BadLineError
from ledger.following import Attempts, attempt_problems
from ledger.journal_rows import read_journal


class NotKeptError(ValueError):
    """Attempts and journal contradict each other or the plan in a way that no kill explains."""

    def __init__(self, found: list[Found]) -> None:
        super().__init__(str(found[0]))
        self.found = found


@dataclass(frozen=True)
class KeptAttempts:
    """The finished attempts of a run."""

    attempts: int
    last_tries: tuple[LastTry, ...]
    """One for each repeat that has a finished try."""
    journal_bytes: int
    """How much of journal.jsonl belongs to them; what follows are rows of attempts that were cut off."""
    dropped_rows: int
    """Whole rows that follow."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """Name of a secret -> how often it was taken out of their lines."""


def read_kept_attempts(plan: Plan, root: Path) -> KeptAttempts:
    """Read both files of an unsealed run; nothing is written.

    A last line that is cut counts as absent. The rows of an attempt are written before its line, one attempt after the
    other, so rows without a line can only stand at the end.

    Raises:
        NotKeptError: naming what else is wrong.

    """
    index = AttemptIndex(root / evidence.ATTEMPTS, drops_cut_end=True)
    last: dict[tuple[str, int], LastTry] = {}
    rows: Attempts = {}
    redacted: Counter[str] = Counter()
    try:
        found = list(attempt_problems(plan, _noting(index.scan(), last, redacted), rows))
    except BadLineError as error:
        found = [Found(str(error), file=evidence.ATTEMPTS)]
    if found:
        raise NotKeptError(found)
    try:
        size, dropped = _journal_end(root / evidence.JOURNAL, rows)
    except ValueError as error:
        raise NotKeptError([Found(str(error), file=evidence.JOURNAL)]) from error
    return KeptAttempts(
        attempts=len(rows),
        last_tries=tuple(last.values()),
        journal_bytes=size,
        dropped_rows=dropped,
        redacted=redacted,
    )


def _noting(
    records: Iterator[AttemptRecord], last: dict[tuple[str, int], LastTry], redacted: Counter[str]
) -> Iterator[AttemptRecord]:
    for record in records:
        redacted.update(record.redacted or {})
        one = LastTry(
            case_id=record.case_id, repeat=record.repeat, attempt=record.attempt, outcome_class=record.outcome_class
        )
        last[record.case_id, record.repeat] = one
        yield record


def _journal_end(journal: Path, attempts: Mapping[tuple[str, int], int]) -> tuple[int, int]:
    """Where the rows of the attempts end, in bytes, and how many rows follow; ValueError where the two disagree."""
    due = ((key, rows) for key, rows in attempts.items() if rows)
    end = dropped = 0
    for block in read_journal(journal, drops_cut_end=True):
        key, rows = next(due, (None, 0))
        if key is None:
            dropped += block.rows
            continue
        if (block.case_id, block.attempt, block.rows) != (*key, rows):
            raise ValueError(
                f"line {block.line}: {block.rows} rows of {block.case_id}, attempt {block.attempt}, "
                f"where {evidence.ATTEMPTS} has {rows} of {key[0]}, attempt {key[1]}"
            )
        end = block.end
    if (missing := next(due, None)) is not None:
        (case_id, attempt), rows = missing
        raise ValueError(f"ends before the {rows} rows of {case_id}, attempt {attempt}")
    return end, dropped
