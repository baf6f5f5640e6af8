"""One HTTP/1.1 connection: uvicorn's protocol on httptools, with the bounds and the manners that both lack."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any, NamedTuple, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fixture_api.answers import Answer
from fixture_api.problems import HEADERS_TOO_LARGE, NOT_HTTP, TOO_SLOW
from fixture_api.upgrades import announced_length, announces_body, parser_after_upgrade

MAX_HEADER_BYTES = 64 * 1024
"""Of request line and headers together, and of what follows the last byte of a chunked body, trailers and all.

Counted byte by byte from the request's first, whatever the pieces in which it arrives and whatever came before it.
"""

HEADERS_S = 30
"""How long request line and headers may take, from their first byte."""

BODY_S = 300
"""How long a body may take, from the end of the headers."""

LINGER_S = 2
"""How long what a refused client still sends is read and dropped."""

_END_OF_HEADERS = b"\r\n\r\n"
_SEAM = len(_END_OF_HEADERS) - 1
_LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,7})\r\n", re.IGNORECASE)
_VERSIONS = ("1.0", "1.1")

CYCLE = "labctl.cycle"
"""Key of an ASGI scope: the RequestResponseCycle that it belongs to."""

Rest = Coroutine[Any, Any, None]
"""What is left of answering a request once something has to be waited for."""

Begin = Callable[[RequestResponseCycle], Rest | None]
"""Answers a request as far as that needs no waiting; None: it is answered."""


class Patience(NamedTuple):
    """How long a request may take to arrive and a refused client to stop, in seconds; none holds between requests."""

    headers_s: float = HEADERS_S
    body_s: float = BODY_S
    linger_s: float = LINGER_S


def body_at_hand(cycle: RequestResponseCycle) -> bytes | None:
    """The request's whole body; None while more of it is to come."""
    return None if cycle.more_body else bytes(cycle.body)


def waits_in_vain(cycle: RequestResponseCycle, *, most: int) -> bool:
    """True for a client that asks before it sends a body of more bytes than are taken (Expect: 100-continue)."""
    return cycle.waiting_for_100_continue and (announced_length(cycle.scope["headers"]) or 0) > most


def refuse_unsent(cycle: RequestResponseCycle, answer: Answer) -> Rest | None:
    """Answers a request whose body need not come any more, and closes: the answer says so."""
    cycle.keep_alive = False
    return send_answer(cycle, answer, then_close=True)


def send_answer(
    cycle: RequestResponseCycle, answer: Answer, *, then_close: bool = False, asks_to_close: bool = False
) -> Rest | None:
    """Sends a whole answer at once; `then_close` ends the connection after it, without a word about it in the headers.

    `asks_to_close` says in the headers that the client has to close, and leaves it to the client to do so first. Where
    what was sent before is not taken yet, that is to be waited for.

    Over ASGI's `send` the same takes two messages whose headers are looked at one by one, each time, though they were
    checked when the suite was compiled: a quarter of what a request costs. What is done here is what uvicorn's
    `RequestResponseCycle.send` does for a response with a content-length.
    """
    if cycle.disconnected:
        return None
    if cycle.flow.write_paused:
        return _send_drained(cycle, answer, then_close=then_close, asks_to_close=asks_to_close)
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    end = b"\r\n" if cycle.keep_alive and not asks_to_close else b"connection: close\r\n\r\n"
    body = b"" if cycle.scope["method"] == "HEAD" else answer.body
    cycle.transport.write(b"".join((answer.head.wire, answer.length, end, body)))
    cycle.response_complete = True
    _end(cycle, closes=then_close or not (cycle.keep_alive or asks_to_close))
    return None


async def _send_drained(cycle: RequestResponseCycle, answer: Answer, *, then_close: bool, asks_to_close: bool) -> None:
    await cycle.flow.drain()
    rest = send_answer(cycle, answer, then_close=then_close, asks_to_close=asks_to_close)
    if rest is not None:
        await rest


def close_unanswered(cycle: RequestResponseCycle) -> None:
    """Ends the connection of a request that gets no answer."""
    if not cycle.disconnected:
        cycle.response_started = cycle.response_complete = True
        _end(cycle, closes=True)


def _end(cycle: RequestResponseCycle, *, closes: bool) -> None:
    cycle.message_event.set()
    if closes:
        cast("BoundedConnection", cycle.transport.get_protocol()).linger()
    cycle.on_response()


class _Phase(Enum):
    """What of a request the parser waits for."""

    BETWEEN = "between two requests"
    HEADERS = "headers"
    BODY = "body"


class BoundedConnection(HttpToolsProtocol):
    """Answers 400, 408 or 431 and closes when a request is no HTTP, too slow or too long; else it never closes first.

    Closing first would turn a time-out that a network fault plans into an end of file (toxiproxy).
    """

    def __init__(self, *args: Any, patience: Patience, begin: Begin | None = None, **kwargs: Any) -> None:
        """`begin` answers what is here whole without a task of its own: a tenth of what a request costs."""
        super().__init__(*args, **kwargs)
        self._patience = patience
        self._begin = begin
        self._unbegun: RequestResponseCycle | None = None
        """The request whose headers came in the piece that is being read."""
        self._phase = _Phase.BETWEEN
        self._counted_bytes = 0
        """Fed to the parser since a request began, or since headers or a piece of a body were last complete."""
        self._tail = b""
        """The last bytes of headers that are not complete."""
        self._body_to_come: int | None = None
        """Bytes; None of a body in chunks."""
        self._body_in_portion = 0
        self._deadline: asyncio.TimerHandle | None = None
        """Of the phase; made only when a piece ends inside a request, which those of most requests do not."""
        self._unanswered = 0
        self._refusal: Answer | None = None
        self._is_deaf = False

    def data_received(self, data: bytes) -> None:
        """Feeds the parser as long as the headers stay within their bound."""
        if self._is_deaf:
            return
        at, whole = 0, memoryview(data)
        while at < len(data) and not self._is_deaf:
            room = MAX_HEADER_BYTES - self._counted_bytes
            if not room:
                self._refuse(HEADERS_TOO_LARGE)
                break
            end = self._portion_end(data, at, room=room)
            self._feed_portion(whole[at:end])
            at = end
        if self._unbegun is not None:
            self._begin_it(self._unbegun)
        if self._phase is not _Phase.BETWEEN and self._deadline is None and not self._is_deaf:
            seconds = self._patience.body_s if self._phase is _Phase.BODY else self._patience.headers_s
            self._deadline = self.loop.call_later(seconds, self._refuse, TOO_SLOW)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """uvicorn's, for the request that is next to be answered."""
        if self._begin is not None and cycle is self.cycle and cycle.more_body:
            self._unbegun = cycle  # its headers have just been read: what else of it came with them is seen first
        else:
            super()._start_asgi_task(cycle, app)

    def _begin_it(self, cycle: RequestResponseCycle) -> None:
        self._unbegun = None
        try:
            rest = cast("Begin", self._begin)(cycle)
        except Exception as error:  # noqa: BLE001 - the task reports it as it reports every other
            rest = _raise(error)
        if rest is not None:
            super()._start_asgi_task(cycle, lambda _scope, _receive, _send: rest)

    def _portion_end(self, data: bytes, at: int, *, room: int) -> int:
        """Where to cut what is fed, so that it is known to the byte where headers, bodies and requests end.

        The parser takes no line that ends otherwise than with CR and LF, so headers end with the first empty one. Most
        pieces are one request, by its own content-length: that needs no cut.
        """
        if self._phase is _Phase.BODY:
            if self._body_to_come:
                return min(len(data), at + self._body_to_come)
            # In chunks: sizes and trailers are lines, and what else has line ends is cut more often than it need be.
            return data.find(b"\n", at, at + room) + 1 or min(len(data), at + room)
        if self._tail:
            seam = (self._tail + data[at : at + _SEAM]).find(_END_OF_HEADERS)
            if seam >= 0:
                return min(at + seam + len(_END_OF_HEADERS) - len(self._tail), at + room)
        found = data.find(_END_OF_HEADERS, at, at + room)
        if found < 0:
            return min(len(data), at + room)
        end = found + len(_END_OF_HEADERS)
        length = _LENGTH.search(data, at, end)
        return len(data) if length is not None and end + int(length[1]) == len(data) else end

    def _feed_portion(self, portion: memoryview) -> None:
        was_in_body = self._phase is _Phase.BODY
        self._body_in_portion = 0
        if not was_in_body:
            self._counted_bytes += len(portion)
        try:
            self._parse(portion)
        except httptools.HttpParserError:
            self._refuse(NOT_HTTP)
        if self._phase is _Phase.HEADERS:
            self._tail = (self._tail + portion[-_SEAM:])[-_SEAM:]
        elif was_in_body and self._phase is _Phase.BODY:
            before = 0 if self._body_in_portion else self._counted_bytes
            self._counted_bytes = before + len(portion) - self._body_in_portion

    def _parse(self, left: memoryview) -> None:
        while left:
            try:
                self.parser.feed_data(left)
            except httptools.HttpParserUpgrade as upgrade:
                # No other protocol is spoken here: a server that ignores the offer goes on as if there had been none.
                left = left[upgrade.args[0] :]
                self.parser = parser_after_upgrade(self, self.headers)
            else:
                return

    def _refuse(self, answer: Answer) -> None:
        """Ends the connection with that answer, once all requests before the refused one have theirs."""
        has_begun = self._phase is _Phase.BODY
        self._is_deaf = True
        self._set_phase(_Phase.BETWEEN)
        if has_begun and self.cycle.response_complete:
            self.linger()  # it had its answer before it was read to its end
            return
        if has_begun:
            self._give_up(self.cycle)
        self._refusal = answer
        if not self._unanswered:
            self._send_refusal(answer)

    def _give_up(self, cycle: RequestResponseCycle) -> None:
        """Whoever reads the body of that request is told that no more of it comes, and need not answer it."""
        cycle.disconnected = True
        cycle.waiting_for_100_continue = False
        cycle.message_event.set()
        self._unanswered -= 1
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()

    def _send_refusal(self, answer: Answer) -> None:
        if not self.transport.is_closing():
            wire = (answer.head.wire, answer.length, b"connection: close\r\n\r\n", answer.body)
            self.transport.write(b"".join(wire))
            self.linger()

    def linger(self) -> None:
        """Closes after what the client still sends was read and dropped, for a while at most.

        Closed with input unread, the connection would be reset, and the answer could be lost on its way; so it would be
        by what a client sends on after a request that was to be its last (RFC 9112, 9.6). None of that is answered.
        """
        self._is_deaf = True
        self._set_phase(_Phase.BETWEEN)
        self.pipeline.clear()
        self._refusal = None
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.transport.write_eof()
            self._deadline = self.loop.call_later(self._patience.linger_s, self.transport.close)

    def _set_phase(self, phase: _Phase) -> None:
        self._phase = phase
        self._counted_bytes = 0
        self._tail = b""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def on_message_begin(self) -> None:
        """The parser's: a request begins."""
        self._phase = _Phase.HEADERS
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The parser's: its headers are complete; raises, and so refuses, for what is no HTTP/1 or names no host."""
        version = self.parser.get_http_version()
        names = [name for name, _ in self.headers]
        hosts = names.count(b"host")
        if version not in _VERSIONS or hosts > 1 or (version == "1.1" and not hosts):
            raise ValueError("no HTTP/1 request, or not one host")
        super().on_headers_complete()
        self._body_to_come = announced_length(self.headers)
        self._set_phase(_Phase.BODY)
        self._unanswered += 1
        cast("dict[str, Any]", self.scope)[CYCLE] = self.cycle
        if self.scope["http_version"] == "1.0":
            self.cycle.waiting_for_100_continue = False  # such a client would take it for the answer

    def on_body(self, body: bytes) -> None:
        """The parser's: a piece of its body."""
        self._body_in_portion += len(body)
        if self._body_to_come is not None:
            self._body_to_come -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The parser's: it is complete."""
        if self.parser.should_upgrade() and announces_body(self.headers):
            return  # the parser takes the body for another protocol's
        self._set_phase(_Phase.BETWEEN)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer was sent; called once for each.

        uvicorn's would also see to it that an idle connection is closed one day.
        """
        self._unanswered -= 1
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                super()._start_asgi_task(*self.pipeline.pop())
        if self._refusal is not None and not self._unanswered:
            self._send_refusal(self._refusal)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._is_deaf = True
        self._set_phase(_Phase.BETWEEN)
        super().connection_lost(exc)


async def _raise(error: Exception) -> None:
    raise error
