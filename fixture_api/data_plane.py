"""The data port below the framework: finds the attempt of a request, reads it, sends what the attempt decides."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from fixture_api import problems
from fixture_api.answers import Answer
from fixture_api.attempt import Attempt
from fixture_api.attempts import Attempts, Selection
from fixture_api.connections import (
    CYCLE,
    Rest,
    body_at_hand,
    close_unanswered,
    refuse_unsent,
    send_answer,
    waits_in_vain,
)
from fixture_api.journal import Decision, Ending
from fixture_api.lab_pages import LabPages
from fixture_api.mcp_door import MCP_PATH, McpDoor
from fixture_api.request import read_request
from fixture_api.routing import first_value

MAX_BODY_BYTES = 8 * 1024 * 1024

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_PREFIX = b"/~"
_PREFIX_END = 34
_BEGINS_AS_PREFIX = re.compile(rb"/~[0-9A-Fa-f]{32}(/|$)")
"""What lint lets no route begin with."""


class DataPlane:
    """ASGI entry of the data port, on BoundedConnection; no framework below it, so none answers in its own words.

    FastAPI's routing alone would cost more than everything that is done here.
    """

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts
        self._pages = LabPages(revision=attempts.world.revision, clock=attempts.world.clock)
        self._mcp = McpDoor(attempts.world.tools, revision=attempts.world.revision)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Answers one request."""
        rest = self.begin(scope[CYCLE])
        if rest is not None:
            await rest

    def begin(self, cycle: RequestResponseCycle) -> Rest | None:
        """Answers one request, all but what has to be waited for."""
        found = self._select(cast("Scope", cycle.scope))
        if isinstance(found, Answer):
            return send_answer(cycle, found)
        attempt, path = found
        if page := self._pages.answer(cycle.scope["method"], path):
            return _send(cycle, attempt, Decision(page))
        if waits_in_vain(cycle, most=MAX_BODY_BYTES):
            return refuse_unsent(cycle, problems.BODY_TOO_LARGE)
        body = body_at_hand(cycle)
        if body is None or len(body) > MAX_BODY_BYTES:
            return self._read_and_answer(cycle, attempt, path=path)
        return self._answer(cycle, attempt, path=path, body=body)

    async def _read_and_answer(self, cycle: RequestResponseCycle, attempt: Attempt, *, path: bytes) -> None:
        body = await _read_body(cast("Receive", cycle.receive))
        if body is None:
            # Not journaled: a request is known by its digest, and this one was never read to its end.
            rest = _send(cycle, attempt, Decision(problems.BODY_TOO_LARGE))
        else:
            rest = self._answer(cycle, attempt, path=path, body=body)
        if rest is not None:
            await rest

    def _answer(self, cycle: RequestResponseCycle, attempt: Attempt, *, path: bytes, body: bytes) -> Rest | None:
        if attempt.closed:
            return _send(cycle, attempt, Decision(problems.UNKNOWN_PREFIX))
        scope = cast("Scope", cycle.scope)
        query, headers = scope["query_string"], scope["headers"]
        address = attempt.address
        if address is not None and address.may_be_in((path, query, body, *[value for _, value in headers])):
            # An agent may tell its own address, to the model for one: digests and rows must not depend on it.
            hidden, host = address.hidden_in, first_value(headers, b"host") or b""
            path, query, body = hidden(path, host=host), hidden(query, host=host), hidden(body, host=host)
            headers = [(name, hidden(value, host=host)) for name, value in headers]
        location = attempt.locate(scope["method"], path)
        if location.target.path == MCP_PATH:
            return self._answer_mcp(cycle, attempt, headers=headers, body=body)
        request = read_request(location.target, query_string=query, headers=headers, body=body)
        return _send(cycle, attempt, attempt.decide(location, request))

    async def _answer_mcp(
        self, cycle: RequestResponseCycle, attempt: Attempt, *, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        decision = await self._mcp.decide(attempt, method=cycle.scope["method"], headers=headers, body=body)
        rest = _send(cycle, attempt, decision)
        if rest is not None:
            await rest

    def _select(self, scope: Scope) -> tuple[Attempt, bytes] | Answer:
        """The attempt and the path in its world; an answer where there is none, or where the lab itself answers."""
        raw_path: bytes = scope["raw_path"]
        named = [value for name, value in scope["headers"] if name == b"x-eval-case"]
        if not raw_path.startswith(_PREFIX):
            if raw_path[:4].lower() != b"/%7e":
                # a page of the lab needs no case: it tells of the lab, and nothing of any attempt
                return self._pages.answer(scope["method"], raw_path) or self._select_by_header(named, raw_path)
            raw_path = _PREFIX + raw_path[4:]  # some clients escape the tilde
        if named and not _BEGINS_AS_PREFIX.match(raw_path) and self._attempts.selection is not Selection.PREFIX:
            return self._select_by_header(named, raw_path)  # a route's own path: /~me
        attempt, path = self._attempts.by_token(raw_path[2:_PREFIX_END]), raw_path[_PREFIX_END:]
        if attempt is None or path[:1] not in (b"/", b""):
            return problems.UNKNOWN_PREFIX
        if named and named != [attempt.case_header]:
            # Not journaled either: it says of itself that it belongs to another world, so no world can own it.
            return problems.OTHER_CASE
        return attempt, path

    def _select_by_header(self, named: list[bytes], path: bytes) -> tuple[Attempt, bytes] | Answer:
        if self._attempts.selection is Selection.PREFIX:
            return problems.PREFIX_ONLY
        if len(set(named)) != 1:
            return problems.NO_CASE_NAMED
        case_id = named[0].decode("utf-8", "replace")
        attempt = self._attempts.by_header(case_id)
        if attempt is None:
            return problems.unknown_case(None if self._attempts.is_secret(case_id) else case_id)
        return attempt, path


def _send(cycle: RequestResponseCycle, attempt: Attempt, decision: Decision) -> Rest | None:
    if decision.delay_ms or decision.ending.sends_nothing:
        return _send_delayed(cycle, attempt, decision)
    return _send_now(cycle, attempt, decision)


async def _send_delayed(cycle: RequestResponseCycle, attempt: Attempt, decision: Decision) -> None:
    if not await _waited(attempt, cast("Receive", cycle.receive), decision):
        close_unanswered(cycle)
        return
    rest = _send_now(cycle, attempt, decision)
    if rest is not None:
        await rest


def _send_now(cycle: RequestResponseCycle, attempt: Attempt, decision: Decision) -> Rest | None:
    # with a network fault on the way, whoever closes first there would change it, and must not be the server
    asks_to_close = attempt.opening.proxied
    return send_answer(cycle, decision.answer, then_close=decision.ending is Ending.CUT, asks_to_close=asks_to_close)


async def _waited(attempt: Attempt, receive: Receive, decision: Decision) -> bool:
    """True when the answer's whole delay is over; False when nothing is to be sent any more.

    That is at the attempt's end, when the client went away, and for an answer that is held in any case.
    """
    waits = [asyncio.ensure_future(attempt.over.wait()), asyncio.ensure_future(_disconnected(receive))]
    seconds = None if decision.ending is Ending.HELD_TO_THE_END else decision.delay_ms / 1000
    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    return not done and not decision.ending.sends_nothing


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass  # what is left of the request


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None when it is longer than MAX_BODY_BYTES, or when the client went away before its end."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message["body"])
        size += len(message["body"])
        if size > MAX_BODY_BYTES:
            return None
        if not message["more_body"]:
            return b"".join(pieces)
