"""The rows of one attempt, kept as light as the hot path needs and written out as records at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contracts.control import ServedRequest, UnmatchedRequest
from contracts.journal import JournalRow, Via
from fixture_api.tool_calls import ToolCall

MAX_TEXT_BYTES = 64 * 1024
"""As much of a body as a row carries to the judge; the digest is always over the whole."""

_NO_TEXT = b"\xff"


class Served(NamedTuple):
    """One row with what judging needs beside it."""

    method: str
    path: str
    request_digest: str
    route: str | None
    call: ToolCall | None
    via: Via
    status: int
    response_digest: str
    delay_ms: int
    body: bytes
    """What was sent; longer ones as `cut_body` leaves them."""
    unmatched: UnmatchedRequest | None


def cut_body(body: bytes) -> bytes:
    """As much of a long body as a row keeps, cut between two characters; bytes that are no UTF-8 stay no UTF-8."""
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
            tool=one.call.tool if one.call else None,
            via=one.via,
            status=one.status,
            response_digest=one.response_digest,
            fault=None,
            delay_ms=one.delay_ms,
        )
        text = _text_of(one.body)
        arguments = one.call.arguments if one.call else None
        yield ServedRequest(row=row, arguments=arguments, response_text=text, unmatched=one.unmatched)
