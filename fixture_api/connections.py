"""One HTTP/1.1 connection: uvicorn's protocol on httptools, with the bound on headers that both lack."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fixture_api.problems import HEADERS_TOO_LARGE

MAX_HEADER_BYTES = 64 * 1024
"""Of request line and headers together, counted in the pieces in which they arrive."""

LINGER_S = 2
"""How long what a refused client still sends is read and dropped."""


def _too_large() -> bytes:
    lines = [b"HTTP/1.1 431 Request Header Fields Too Large"]
    lines += [name + b": " + value for name, value in HEADERS_TOO_LARGE.headers]
    return b"\r\n".join([*lines, b"connection: close", b"", HEADERS_TOO_LARGE.body])


_TOO_LARGE = _too_large()


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
