"""One HTTP/1.1 connection: uvicorn's protocol on httptools, with the bound on headers that both lack."""

from __future__ import annotations

from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fixture_api.answers import Answer
from fixture_api.problems import HEADERS_TOO_LARGE

MAX_HEADER_BYTES = 64 * 1024
"""Of request line and headers together, counted in the pieces in which they arrive."""

LINGER_S = 2
"""How long what a refused client still sends is read and dropped."""


CYCLE = "labctl.cycle"
"""Key of an ASGI scope: the RequestResponseCycle that it belongs to."""

_TOO_LARGE = b"".join(
    (HEADERS_TOO_LARGE.head.wire, HEADERS_TOO_LARGE.length, b"connection: close\r\n\r\n", HEADERS_TOO_LARGE.body)
)


def body_at_hand(cycle: RequestResponseCycle) -> bytes | None:
    """The request's whole body; None while more of it is to come."""
    return None if cycle.more_body else bytes(cycle.body)


async def send_answer(cycle: RequestResponseCycle, answer: Answer, *, then_close: bool = False) -> None:
    """Sends a whole answer at once; `then_close` ends the connection after it, without a word about it in the headers.

    Over ASGI's `send` the same takes two messages whose headers are looked at one by one, each time, though they were
    checked when the suite was compiled: a quarter of what a request costs. What is done here is what uvicorn's
    `RequestResponseCycle.send` does for a response with a content-length.
    """
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
    body = b"" if cycle.scope["method"] == "HEAD" else answer.body
    cycle.transport.write(b"".join((answer.head.wire, answer.length, end, body)))
    cycle.response_complete = True
    _end(cycle, closes=then_close or not cycle.keep_alive)


def close_unanswered(cycle: RequestResponseCycle) -> None:
    """Ends the connection of a request that gets no answer."""
    if not cycle.disconnected:
        cycle.response_started = cycle.response_complete = True
        _end(cycle, closes=True)


def _end(cycle: RequestResponseCycle, *, closes: bool) -> None:
    cycle.message_event.set()
    if closes:
        cycle.transport.close()
    cycle.on_response()


class BoundedConnection(HttpToolsProtocol):
    """Answers 431 and closes when a request's headers do not end in time; else it never closes first.

    Closing first would turn a time-out that a network fault plans into an end of file (toxiproxy).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._header_bytes = 0
        self._in_headers = True
        self._is_refused = False

    def data_received(self, data: bytes) -> None:
        """Feeds the parser as long as the headers stay within their bound."""
        if self._is_refused:
            return
        if self._in_headers:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES and b"\r\n\r\n" not in data[:MAX_HEADER_BYTES]:
                self._refuse()
                return
        super().data_received(data)

    def _refuse(self) -> None:
        self._is_refused = True
        self.transport.write(_TOO_LARGE)
        # Closed with input unread, the connection would be reset and the answer could be lost on its way.
        self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)

    def on_message_begin(self) -> None:
        """The parser's: a request begins."""
        self._in_headers = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The parser's: its headers are complete."""
        self._in_headers = False
        self._header_bytes = 0
        super().on_headers_complete()
        cast("dict[str, Any]", self.scope)[CYCLE] = self.cycle
