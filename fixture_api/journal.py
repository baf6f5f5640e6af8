"""The rows of one attempt, kept as light as the hot path needs and written out as records at the end."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from contracts.control import AttemptOpening, ServedRequest, UnmatchedRequest
from contracts.journal import JournalRow, Via
from contracts.record import Json
from fixture_api.answers import Answer
from fixture_api.machine_clock import time_ns
from fixture_api.request import ABSENT, Target, WorldRequest
from fixture_api.tool_calls import BoundCall

MAX_TEXT_BYTES = 64 * 1024
"""As much of a body as a row carries to the judge; the digest is always over the whole."""

_NO_TEXT = b"\xff"


class Ending(Enum):
    """How an answer reaches the client."""

    WHOLE = "whole"
    CUT = "cut"
    """`answer.body` is what is sent of a longer body; then the connection closes."""
    HELD = "held"
    """Nothing is sent; the connection closes after `delay_ms`."""
    HELD_TO_THE_END = "held to the end"
    """Nothing is sent; the connection closes at the attempt's end."""

    @property
    def sends_nothing(self) -> bool:
        """True where a client gets no byte."""
        return self in (Ending.HELD, Ending.HELD_TO_THE_END)


class Decision(NamedTuple):
    """What a request is answered, and what its row says about it."""

    answer: Answer
    route: str | None = None
    delay_ms: int = 0
    """How long the answer waits."""
    unmatched: UnmatchedRequest | None = None
    fault: str | None = None
    """`KIND#INDEX` of the case's response fault that was served."""
    ending: Ending = Ending.WHOLE


class Served(NamedTuple):
    """One row as it is kept until the attempt closes: what was there anyway, and nothing worked out of it."""

    target: Target
    query: list[tuple[str, str]]
    body: Json
    """The request's JSON body, for a tool's arguments; ABSENT without a tool."""
    has_body: bool
    digest: str
    """The request's."""
    call: BoundCall | None
    via: Via
    decision: Decision
    decided_at_ns: int


def served(request: WorldRequest, decision: Decision, *, call: BoundCall | None, via: Via) -> Served:
    """The row of a request; headers and long bodies are not kept."""
    answer = decision.answer
    if len(answer.body) > MAX_TEXT_BYTES:
        decision = decision._replace(answer=answer._replace(body=cut_body(answer.body)))
    body = ABSENT if call is None else request.body
    return Served(request.target, request.query, body, request.has_body, request.digest, call, via, decision, time_ns())


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


def records(rows: list[Served], *, opening: AttemptOpening) -> Iterator[ServedRequest]:
    """The rows as records; the place in the list is the sequence, from 1."""
    for sequence, one in enumerate(rows, 1):
        answer = one.decision.answer
        method = one.target.method
        row = JournalRow(
            case=opening.case,
            attempt=opening.attempt,
            sequence=sequence,
            method=method,
            path=one.target.path,
            request_digest=one.digest,
            route=one.decision.route,
            tool=one.call.tool.name if one.call else None,
            via=one.via,
            status=answer.status,
            response_digest=answer.digest,
            fault=one.decision.fault,
            delay_ms=one.decision.delay_ms,
        )
        arguments = None
        if one.call is not None:
            arguments = one.call.arguments(method=method, query=one.query, body=one.body, has_body=one.has_body)
        text = _text_of(answer.body)
        yield ServedRequest(
            row=row,
            arguments=arguments,
            response_text=text,
            unmatched=one.decision.unmatched,
            decided_at_ns=one.decided_at_ns if opening.timed else None,
        )
