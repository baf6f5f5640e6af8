"""What follows an offer to speak another protocol that is not taken: the request's own body, then more requests.

Java's HTTP client offers h2c with the first request of each connection. The parser, once it has seen an offer, takes
everything after the headers for the other protocol, so a new one reads on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import httptools

Headers = list[tuple[bytes, bytes]]

_FRAMING = (b"content-length", b"transfer-encoding")


class ParserCallbacks(Protocol):
    """What httptools tells of a request while it parses."""

    def on_message_begin(self) -> None: ...  # noqa: D102 - httptools'
    def on_url(self, url: bytes) -> None: ...  # noqa: D102
    def on_header(self, name: bytes, value: bytes) -> None: ...  # noqa: D102
    def on_headers_complete(self) -> None: ...  # noqa: D102
    def on_body(self, body: bytes) -> None: ...  # noqa: D102
    def on_message_complete(self) -> None: ...  # noqa: D102


def announces_body(headers: Headers) -> bool:
    """True when a body follows headers of these lower-case names, if only an empty one."""
    return any(name in _FRAMING for name, _ in headers)


def announced_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The bytes of a body as its head announces them; None without content-length. The parser has looked at it."""
    for name, value in headers:
        if name == b"content-length":
            return int(value)
    return None


def parser_after_upgrade(callbacks: ParserCallbacks, headers: Headers) -> httptools.HttpRequestParser:
    """A parser for what comes after such headers; raises HttpParserError where they announce a body in no known way."""
    if not announces_body(headers):
        return httptools.HttpRequestParser(callbacks)
    framing = b"".join(name + b": " + value + b"\r\n" for name, value in headers if name in _FRAMING)
    parser = httptools.HttpRequestParser(_AfterHead(callbacks))
    parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")
    return parser


class _AfterHead:
    """Keeps the first head to itself: it only announces the body of a request that was told of before."""

    def __init__(self, callbacks: ParserCallbacks) -> None:
        self._callbacks = callbacks
        self._is_told = False
        self.on_body = callbacks.on_body
        self.on_message_complete = callbacks.on_message_complete

    def on_message_begin(self) -> None:
        if self._is_told:
            self._callbacks.on_message_begin()

    def on_url(self, url: bytes) -> None:
        if self._is_told:
            self._callbacks.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_told:
            self._callbacks.on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._is_told:
            self._callbacks.on_headers_complete()
        self._is_told = True
