"""Equal requests of a case that got unequal answers, from the journals of both runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts.comparison import Answer, ToolResponse
from contracts.journal import JournalRow, Via
from ledger.run_rows import NOWHERE, DecidingAttempt


@dataclass(frozen=True)
class _Served:
    """A row, where it stands, and which of the attempt's equal requests it is."""

    row: JournalRow
    line: int
    occurrence: int

    @property
    def key(self) -> tuple[str, int]:
        return self.row.request_digest, self.occurrence


def unequal_answers(
    baseline: dict[int, DecidingAttempt], candidate: dict[int, DecidingAttempt], *, roots: tuple[Path, Path]
) -> Iterator[ToolResponse]:
    """Of each request that differs its first unequal pair, repeat by repeat; `roots` are both run directories."""
    for repeat in sorted(baseline.keys() & candidate.keys()):
        yield from _of_repeat(_served(roots[0], baseline[repeat]), _served(roots[1], candidate[repeat]), repeat=repeat)


def _of_repeat(were: list[_Served], are: list[_Served], *, repeat: int) -> Iterator[ToolResponse]:
    before = {served.key: served for served in were}
    alike = next(
        (place for place, (one, other) in enumerate(zip(were, are, strict=False)) if one.key != other.key),
        min(len(were), len(are)),
    )
    told: set[str] = set()
    for place, now in enumerate(are):
        was = before.get(now.key)
        if was is None or was.row.response_digest == now.row.response_digest or now.row.request_digest in told:
            continue
        told.add(now.row.request_digest)
        yield ToolResponse(
            case_id=now.row.case,
            repeat=repeat,
            method=now.row.method,
            path=now.row.path,
            tool=now.row.tool,
            request_digest=now.row.request_digest,
            occurrence=now.occurrence,
            baseline=_answer(was),
            candidate=_answer(now),
            same_requests_before=place <= alike,
            file=evidence.JOURNAL,
        )


def _answer(served: _Served) -> Answer:
    row = served.row
    return Answer(status=row.status, response_digest=row.response_digest, fault=row.fault, line=served.line)


def _served(root: Path, attempt: DecidingAttempt) -> list[_Served]:
    """The requests of an attempt but for those to the scripted model, in order."""
    if attempt.place.journal_at == NOWHERE:
        return []
    seen: Counter[str] = Counter()
    served = []
    with (root / evidence.JOURNAL).open("rb") as stream:
        stream.seek(attempt.place.journal_at)
        for line in range(attempt.record.journal_rows):
            row = JournalRow.model_validate_json(stream.readline())
            if row.via is not Via.MODEL:
                seen[row.request_digest] += 1
                served.append(_Served(row, attempt.place.journal_line + line, seen[row.request_digest]))
    return served
