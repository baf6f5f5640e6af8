"""What runner and fixture API say to each other over the control port."""

from __future__ import annotations

import re
from typing import Literal

from contracts.journal import JournalRow
from contracts.record import Json, Record

Select = Literal["prefix", "header"]
Breachable = Literal["tool_calls", "model_calls", "requests"]
"""The limits that the fixture API counts for, as `AttemptOpening` sets them."""
_PREFIX = re.compile(r"/~[0-9a-f]{32}")


def without_prefix(text: str) -> str:
    """The text of a log without any attempt's secret prefix."""
    return _PREFIX.sub("/~<prefix>", text)


class AttemptKey(Record):
    """Names an open attempt."""

    case: str
    attempt: int


class AttemptOpening(AttemptKey):
    """POST /attempts: 201 with AttemptOpened; 404 unknown case, 409 already open (problem+json)."""

    prompt: str | None = None
    """Name of the prompt, for the scripted model's rules."""
    model: str | None = None
    """`scripted/NAME`: what the attempt's model endpoint serves; None: no model is served."""
    select: Select = "prefix"
    tool_call_limit: int | None = None
    """Requests that call a bound tool, and tool calls that no request can be made of."""
    model_call_limit: int | None = None
    """Completions asked of the scripted model."""
    request_limit: int | None = None
    """All other requests of the world, so that no flood of them fills a memory."""
    faults: bool = False
    """The fault profile is on: the case's response faults are served."""
    proxied: bool = False
    """Its connections come through the fault proxy: each answer asks the client to close, and waits for it to do so."""
    timed: bool = False
    """The observe profile is on: rows say when their answers were decided."""


class AttemptOpened(Record):
    """`prefix` is `/~` and 32 hex digits: a secret of the attempt, dead at its end, never written down."""

    prefix: str


class RequestMiss(Record):
    """Why the nearest route did not match: one part of it."""

    part: Literal["method", "path", "query", "header", "json"]
    name: str | None = None
    """The query key, header name or JSON pointer."""
    expected: Json = None
    found: Json = None


class UnmatchedRequest(Record):
    """A request that no route answered."""

    method: str
    path: str
    nearest_route: str | None = None
    misses: tuple[RequestMiss, ...] = ()


class ServedRequest(Record):
    """A journal row with what judging needs beside it; bodies are cut to 64 KiB and never journaled."""

    row: JournalRow
    arguments: Json = None
    """The bound tool's arguments read back from path, query and body (coerced by its schema)."""
    response_text: str | None = None
    """The body as text; None when it is not UTF-8."""
    unmatched: UnmatchedRequest | None = None
    decided_at_ns: int | None = None
    """When its answer was decided, in Unix nanoseconds of the machine's own clock, in attempts that are `timed`."""


class AttemptClosed(Record):
    """POST /attempts/close: 200; 404 when no such attempt is open."""

    served: tuple[ServedRequest, ...] = ()
    state: Json
    """The attempt's state at its end."""
    suite_error: str | None = None
    """An effect or `$state` of the suite that could not apply: route, pointer and why."""
    model_error: str | None = None
    """A model request that no rule answers: case, turn and the nearest rule."""
    breached: Breachable | None = None


class AttemptBreach(Record):
    """POST /attempts/breach (long poll): which limit was passed; None when the attempt closed."""

    limit: Breachable | None = None
