"""The rows of one attempt, kept as light as the hot path needs and written out as records at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contracts.control import ServedRequest, UnmatchedRequest
from contracts.journal import JournalRow, Via
from contracts.record import Json

MAX_TEXT_BYTES = 64 * 1024
"""As much of a body as a row carries to the judge; the digest is always over the whole."""

_NO_TEXT = b"\xff"


class Served(NamedTuple):
    """One row with what judging needs beside it."""

    method: str
    path: str
    request_digest: str
    route: str | None
    tool: str | None
    via: Via
    status: int
    response_digest: str
    delay_ms: int
    arguments: Json
    body: bytes
    """What was sent, as `kept_body` leaves it."""
    unmatched: UnmatchedRequest | None


def kept_body(body: bytes) -> bytes:
    """As much of a body as a row keeps, cut between two characters; bytes that are no UTF-8 stay no UTF-8."""
    if len(body) <= MAX_TEXT_BYTES:
        return body
    try:
        body.decode()
    except UnicodeDecodeError:
        return _NO_TEXT
    return body[:MAX_TEXT_BYTES].decode(errors="ignore").encode()


def _text_of(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def records(served: list[Served], *, case: str, attempt: int) -> Iterator[ServedRequest]:
    """The rows as records; the place in the list is the sequence, from 1."""
    for sequence, one in enumerate(served, 1):
        row = JournalRow(
            case=case,
            attempt=attempt,
            sequence=sequence,
            method=one.method,
            path=one.path,
            request_digest=one.request_digest,
            route=one.route,
            tool=one.tool,
            via=one.via,
            status=one.status,
            response_digest=one.response_digest,
            fault=None,
            delay_ms=one.delay_ms,
        )
        text = _text_of(one.body)
        yield ServedRequest(row=row, arguments=one.arguments, response_text=text, unmatched=one.unmatched)
