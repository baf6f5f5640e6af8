"""traces/attempts.jsonl: read line by line, or case by case through an index of byte offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from contracts.attempt import AttemptRecord


class BadLineError(ValueError):
    """A line of a JSONL file that is no record; `number` counts from 1."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"line {number} {why}")
        self.number = number


def read_attempts(path: Path) -> Iterator[AttemptRecord]:
    """The attempts in the order of the file.

    Raises:
        BadLineError: a cut or unreadable line, when it is reached.

    """
    for _, _, record in _placed_attempts(path, drops_cut_end=False):
        yield record


class AttemptIndex:
    """Where each case's attempts stand in the file: memory for their offsets only."""

    def __init__(self, path: Path, *, drops_cut_end: bool = False) -> None:
        """Empty until `scan` was walked through; `drops_cut_end`: leave out a cut last line, as unsealed runs have."""
        self._path = path
        self._drops_cut_end = drops_cut_end
        self._places: dict[str, list[tuple[int, int]]] = {}

    def scan(self) -> Iterator[AttemptRecord]:
        """Every attempt in the order of the file, remembering its place; raises as `read_attempts` does."""
        for offset, length, record in _placed_attempts(self._path, drops_cut_end=self._drops_cut_end):
            self._places.setdefault(record.case_id, []).append((offset, length))
            yield record

    def by_case(self, case_ids: Iterable[str]) -> Iterator[list[AttemptRecord]]:
        """For each case id its scanned attempts in the order of the file; none for a case that has none."""
        with self._path.open("rb", buffering=0) as stream:
            for case_id in case_ids:
                records = []
                for offset, length in self._places.get(case_id, ()):
                    stream.seek(offset)
                    records.append(AttemptRecord.model_validate_json(stream.read(length)))
                yield records


def _placed_attempts(path: Path, *, drops_cut_end: bool) -> Iterator[tuple[int, int, AttemptRecord]]:
    offset = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                if drops_cut_end:
                    return
                raise BadLineError(number, "is cut: it has no line end")
            yield offset, len(line), _attempt(number, line)
            offset += len(line)


def _attempt(number: int, line: bytes) -> AttemptRecord:
    try:
        return AttemptRecord.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise BadLineError(number, f"is no attempt record: {place}: {first['msg']}") from error
