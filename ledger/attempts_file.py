"""traces/attempts.jsonl: read line by line, or case by case through an index of byte offsets."""

from __future__ import annotations

from array import array
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
    """Where each case's attempts stand in the file: memory for a few numbers of each."""

    def __init__(self, path: Path, *, drops_cut_end: bool = False) -> None:
        """Empty until `scan` was walked through; `drops_cut_end`: leave out a cut last line, as unsealed runs have."""
        self._path = path
        self._drops_cut_end = drops_cut_end
        self._offsets, self._lengths = array("q"), array("q")
        self._before = array("q")
        """The line of the same case that was scanned before; -1 for the first one."""
        self._last: dict[str, int] = {}

    def scan(self) -> Iterator[AttemptRecord]:
        """Every attempt in the order of the file, remembering its place; raises as `read_attempts` does."""
        for offset, length, record in _placed_attempts(self._path, drops_cut_end=self._drops_cut_end):
            self._before.append(self._last.get(record.case_id, -1))
            self._last[record.case_id] = len(self._offsets)
            self._offsets.append(offset)
            self._lengths.append(length)
            yield record

    def by_case(self, case_ids: Iterable[str]) -> Iterator[list[AttemptRecord]]:
        """For each case id its scanned attempts in the order of the file; none for a case that has none."""
        if not self._offsets:  # then the file need not even be there
            yield from ([] for _ in case_ids)
            return
        with self._path.open("rb", buffering=0) as stream:
            for case_id in case_ids:
                records = []
                for line in reversed([*self._lines_of(case_id)]):
                    stream.seek(self._offsets[line])
                    records.append(AttemptRecord.model_validate_json(stream.read(self._lengths[line])))
                yield records

    def _lines_of(self, case_id: str) -> Iterator[int]:
        """The scanned lines of the case, the last one first."""
        line = self._last.get(case_id, -1)
        while line >= 0:
            yield line
            line = self._before[line]


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
