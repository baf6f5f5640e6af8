"""What in a run directory does not follow from its plan.json and traces/attempts.jsonl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.errors import Found
from contracts.journal import JournalRow
from contracts.manifest import CaseConditions, EnvironmentManifest
from contracts.plan import Plan, PlannedCase
from contracts.verdict import contradiction_in
from ledger.attempts_file import AttemptIndex, BadLineError
from ledger.grading import grade_indexed
from ledger.manifest_file import manifest_contradictions
from ledger.record_file import record_pieces
from ledger.session_files import session_file_problems

Attempts = dict[tuple[str, int], int]
"""(case id, attempt) -> how many journal rows it has."""


def what_does_not_follow(plan: Plan, root: Path, *, is_spelled_as_here: bool = True) -> list[Found]:
    """Every contradiction between the records of a run; none for a run that labctl wrote.

    Another version may have written the keys of environment.json in another order, or not all of them.
    One pass over attempts and journal; memory grows by an offset and a count for each attempt, never by their texts.
    """
    index = AttemptIndex(root / evidence.ATTEMPTS)
    attempts: Attempts = {}
    try:
        found = list(attempt_problems(plan, index.scan(), attempts))
    except BadLineError as error:
        return [Found(str(error), file=evidence.ATTEMPTS)]
    found += _journal_problems(root / evidence.JOURNAL, attempts)
    found += _manifest_problems(plan, root / evidence.ENVIRONMENT, is_spelled_as_here=is_spelled_as_here)
    if not found:
        grading = grade_indexed(plan, index)
        found += _file_problems(root, evidence.RESULTS, grading.results_pieces())
        found += _file_problems(root, evidence.JUNIT, grading.junit_pieces())
        found += session_file_problems(plan, index, root, compare=_file_problems)
    return found


def attempt_problems(plan: Plan, records: Iterable[AttemptRecord], attempts: Attempts) -> Iterator[Found]:
    """What the records of attempts.jsonl have that the plan does not allow; `attempts` is filled in their order."""
    cases = {case.case_id: case for case in plan.cases}
    repeats: dict[tuple[str, int], int] = {}
    for number, record in enumerate(records, start=1):
        case, key = cases.get(record.case_id), (record.case_id, record.attempt)
        problem = "a case that is not planned" if case is None else _contradiction(case, record)
        if key in attempts:
            problem = "an attempt that stands above already"
        if record.retry_of is not None and repeats.get((record.case_id, record.retry_of)) != record.repeat:
            problem = f"a retry of attempt {record.retry_of}, which is no earlier attempt of that repeat"
        if problem:
            place = f"line {number}"
            yield Found(f"{record.case_id}, attempt {record.attempt}: {problem}", evidence.ATTEMPTS, place)
        attempts[key] = record.journal_rows
        repeats[key] = record.repeat


def _contradiction(case: PlannedCase, record: AttemptRecord) -> str | None:
    if (record.title, record.protected) != (case.title, case.protected):
        return "title or protection are not the plan's"
    if record.case_digest != case.case_digest:
        return "the case digest is not the plan's"
    if record.attempt < 1 or not 1 <= record.repeat <= case.repeats:
        return f"repeat {record.repeat} of {case.repeats} planned"
    return contradiction_in(record)


def _journal_problems(journal: Path, attempts: Attempts) -> Iterator[Found]:
    """Rows without attempt, rows apart from their attempt's others, and counts that differ from the attempt lines."""
    seen: Attempts = {}
    current: tuple[str, int] | None = None
    with journal.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            row = _row(line)
            if row is None:
                yield Found("is cut or no journal row", evidence.JOURNAL, f"line {number}")
                return
            key = (row.case, row.attempt)
            if problem := _row_problem(row, attempts, seen, current):
                yield Found(f"{row.case}, attempt {row.attempt}: {problem}", evidence.JOURNAL, f"line {number}")
            seen[key] = seen.get(key, 0) + 1
            current = key
    for key, rows in attempts.items():
        if seen.get(key, 0) != rows:
            yield Found(f"{key[0]}, attempt {key[1]}: {seen.get(key, 0)} rows, its line says {rows}", evidence.JOURNAL)


def _row_problem(row: JournalRow, attempts: Attempts, seen: Attempts, current: tuple[str, int] | None) -> str | None:
    key = (row.case, row.attempt)
    if key not in attempts:
        return "a row of no attempt"
    if key in seen and key != current:
        return "a row apart from the attempt's others"
    if row.sequence != seen.get(key, 0) + 1:
        return f"sequence {row.sequence} where {seen.get(key, 0) + 1} follows"
    return None


def _row(line: bytes) -> JournalRow | None:
    if not line.endswith(b"\n"):
        return None
    try:
        return JournalRow.model_validate_json(line)
    except ValidationError:
        return None


def _manifest_problems(plan: Plan, path: Path, *, is_spelled_as_here: bool) -> Iterator[Found]:
    try:
        manifest = EnvironmentManifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        yield Found(f"is no manifest: {error.errors(include_url=False)[0]['msg']}", file=evidence.ENVIRONMENT)
        return
    for key in manifest_contradictions(manifest, plan):
        yield Found("is not what plan.json says", file=evidence.ENVIRONMENT, place=key)
    if manifest.cases != {case.case_id: CaseConditions.of(manifest.conditions, case) for case in plan.cases}:
        yield Found("is not what plan.json says", file=evidence.ENVIRONMENT, place="cases")
    elif is_spelled_as_here and any(_file_problems(path.parent, path.name, record_pieces(manifest))):
        yield Found("is spelled otherwise than labctl writes it", file=evidence.ENVIRONMENT)


def _file_problems(root: Path, name: str, pieces: Iterable[bytes]) -> Iterator[Found]:
    """The first place where a file differs from what was recomputed."""
    line = 1
    with (root / name).open("rb") as stream:
        for piece in pieces:
            there = stream.read(len(piece))
            if there != piece:
                line += piece[: _equal_bytes(there, piece)].count(b"\n")
                yield Found("does not follow from plan.json and traces/attempts.jsonl", name, f"line {line}")
                return
            line += piece.count(b"\n")
        if stream.read(1):
            yield Found("goes on after what follows from plan and attempts", name, f"line {line}")


def _equal_bytes(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))
