"""What results.json and junit.xml must hold, kept as one number for each case, and whether the files hold it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from contracts import evidence
from contracts.results import Metrics, Results, Summary
from ledger.junit_text import CLOSING, JUnitCounts, junit_head
from ledger.record_file import record_file

_CHUNK_BYTES = 1 << 21
_BETWEEN = b"\n    },\n    {"
_LAST = b"\n    }"


@dataclass(frozen=True)
class DerivedHead:
    """What the files say before their cases."""

    run_id: str
    summary: Summary
    metrics: Metrics
    counts: JUnitCounts


class DerivedFiles:
    """Collects what must be there, then looks; the numbers mean something in one process and its forks only."""

    def __init__(self, count: int) -> None:
        """For so many cases, in the order of the plan."""
        self.head: DerivedHead | None = None
        self._results, self._testcases = (array("q", [0]) * count for _ in range(2))
        self._lines: dict[int, int] = {}
        """Of testcases that take several lines: how many more."""

    def expect(self, place: int, result: bytes, testcase: bytes) -> None:
        """Of one case: its item of results.json, and its testcase without the line's end."""
        self._results[place] = hash(result[1 : -len(_LAST)])
        self._testcases[place] = hash(testcase)
        if lines := testcase.count(b"\n"):
            self._lines[place] = lines

    def are_in(self, root: Path) -> bool:
        """Whether both files of a run directory are, byte by byte, what was expected."""
        if self.head is None:
            return False
        with (root / evidence.RESULTS).open("rb") as results, (root / evidence.JUNIT).open("rb") as junit:
            return self._is_results(results, self.head) and self._is_junit(junit, self.head)

    def _is_results(self, stream: BinaryIO, head: DerivedHead) -> bool:
        start, end = _results_ends(head)
        if not self._results:
            return stream.read() == start + b"[]" + end
        if stream.read(len(start) + 7) != start + b"[\n    {":
            return False
        items = _items(stream)
        if any(hash(next(items, b"")) != expected for expected in self._results):
            return False
        return next(items, None) == b"\n  ]" + end and next(items, None) is None

    def _is_junit(self, stream: BinaryIO, head: DerivedHead) -> bool:
        start = junit_head(head.counts, run_id=head.run_id)
        if stream.read(len(start)) != start:
            return False
        for place, expected in enumerate(self._testcases):
            text = b"".join(stream.readline() for _ in range(1 + self._lines.get(place, 0)))
            if hash(text[:-1]) != expected:
                return False
        return stream.read() == CLOSING


def _results_ends(head: DerivedHead) -> tuple[bytes, bytes]:
    """What results.json says before and after the brackets of its cases."""
    empty = record_file(Results(run_id=head.run_id, summary=head.summary, metrics=head.metrics, cases=()))
    start, _, end = empty.rpartition(b"[]")
    return start, end


def _items(stream: BinaryIO) -> Iterator[bytes]:
    """What stands within the braces of each item, then what follows the last one's."""
    rest = b""
    while chunk := stream.read(_CHUNK_BYTES):
        *items, rest = (rest + chunk).split(_BETWEEN)
        yield from items
    last, _, tail = rest.rpartition(_LAST)
    yield last
    yield tail
