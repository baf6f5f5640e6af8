"""journal.jsonl in one pass: what each attempt asked and was answered, as one number, and where its rows stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from contracts.journal import JournalRow

_TEXT = rb'"[ !#-\[\]-~]*"'
_OPEN = rb"(?:null|" + _TEXT + rb")"
_ROW = re.compile(
    rb'\{"case":"([ !#-\[\]-~]*)","attempt":([1-9][0-9]{0,8}),"sequence":([1-9][0-9]{0,8}),"method":'
    + _TEXT
    + rb',"path":'
    + _TEXT
    + rb',"requestDigest":"([ !#-\[\]-~]*)","route":'
    + _OPEN
    + rb',"tool":'
    + _OPEN
    + rb',"via":"(http|mcp|model)","status":[1-9][0-9]{0,8},"responseDigest":"([ !#-\[\]-~]*)","fault":'
    + _OPEN
    + rb',"delayMs":(?:0|[1-9][0-9]{0,8})\}\n'
)
"""A row as labctl writes it, of plain texts; every other row is read as a record."""


class JournalBlock(NamedTuple):
    """The contiguous rows of one attempt."""

    case_id: str
    attempt: int
    rows: int
    answers: int
    """A number that is equal for equal requests with equal answers in the same order, in one process and its forks;
    those of the scripted model are left out."""
    offset: int
    """Of its first row, in bytes."""
    line: int
    """Of its first row, from 1."""
    end: int
    """After its last row, in bytes."""


def read_journal(path: Path, *, drops_cut_end: bool = False) -> Iterator[JournalBlock]:
    """The blocks in the order of the file; `drops_cut_end`: leave out a cut last row, as unsealed runs have.

    Raises:
        ValueError: a row is cut or no row, or the sequence of a block does not count from 1.

    """
    case, attempt = b"", b""
    answers: list[bytes] = []
    rows = offset = start = first_line = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if drops_cut_end and not line.endswith(b"\n"):
                break
            match = _ROW.fullmatch(line)
            its_case, its_attempt, sequence, request, via, response = match.groups() if match else _parts(line)
            if its_case != case or its_attempt != attempt or not rows:
                if rows:
                    yield JournalBlock(
                        case.decode(), int(attempt), rows, hash(tuple(answers)), start, first_line, offset
                    )
                case, attempt, answers, rows, start, first_line = its_case, its_attempt, [], 0, offset, number
            rows += 1
            if sequence != b"%d" % rows:
                raise ValueError(f"line {number}: sequence {sequence.decode()} where {rows} follows")
            if via != b"model":
                answers += (request, response)
            offset += len(line)
    if rows:
        yield JournalBlock(case.decode(), int(attempt), rows, hash(tuple(answers)), start, first_line, offset)


def _parts(line: bytes) -> tuple[bytes, ...]:
    """Case, attempt, sequence, digest of the request, door and digest of the answer, by a record of the row."""
    if not line.endswith(b"\n"):
        raise ValueError("a row is cut")
    row = JournalRow.model_validate_json(line)
    parts = (row.case, row.attempt, row.sequence, row.request_digest, row.via.value, row.response_digest)
    return tuple(str(part).encode() for part in parts)
