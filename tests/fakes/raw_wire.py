"""A client of bytes: sends what it is told and returns what was on the wire, one whole answer at a time."""

from __future__ import annotations

import re
import socket
from types import TracebackType
from typing import Self

TIMEOUT_S = 30
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n")
_READ_BYTES = 262_144
_NO_BODY = (b"204", b"304")


class ClosedError(Exception):
    """The server closed before an answer was complete; `received` is what came until then."""

    def __init__(self, received: bytes) -> None:
        super().__init__(received)
        self.received = received


class Wire:
    """One connection."""

    def __init__(self, port: int, *, timeout_s: float = TIMEOUT_S) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._left = b""
        self.is_closed = False
        """The server closed, or said that it will."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.close()

    def send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def end_sending(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def answer(self, *, to_head: bool = False) -> bytes:
        """The next answer, status line to last byte; raises ClosedError, and TimeoutError when none comes."""
        head = self._until(b"\r\n\r\n")
        status, length = head[9:12], _LENGTH.search(head)
        self.is_closed = b"\r\nconnection: close\r\n" in head
        if b"transfer-encoding: chunked\r\n" in head and not to_head:
            return head + self._until(b"0\r\n\r\n")
        if to_head or status in _NO_BODY or length is None:
            return head
        try:
            return head + self._take(int(length[1]))
        except ClosedError as error:
            raise ClosedError(head + error.received) from error

    def ask(self, content: bytes) -> bytes:
        """One request and its answer."""
        self.send(content)
        return self.answer(to_head=content.startswith(b"HEAD "))

    def rest(self) -> bytes:
        """Everything until the server closes; a reset counts as that. Raises TimeoutError when it does not close."""
        received = self._left
        self._left = b""
        try:
            while piece := self._socket.recv(_READ_BYTES):
                received += piece
        except ConnectionError:
            pass
        return received

    def close(self) -> None:
        self._socket.close()

    def _until(self, end: bytes) -> bytes:
        while end not in self._left:
            self._more()
        content, _, self._left = self._left.partition(end)
        return content + end

    def _take(self, length: int) -> bytes:
        while len(self._left) < length:
            self._more()
        content, self._left = self._left[:length], self._left[length:]
        return content

    def _more(self) -> None:
        piece = self._socket.recv(_READ_BYTES)
        if not piece:
            self.is_closed = True
            raise ClosedError(self._left)
        self._left += piece


def request(method: str, target: str | bytes, *headers: str, body: bytes = b"", length: bool = True) -> bytes:
    """A request with the header `host`, and `content-length` where there is a body and `length` is not refused."""
    path = target.encode() if isinstance(target, str) else target
    lines = ["host: lab", *headers, *([f"content-length: {len(body)}"] if body and length else [])]
    return (
        method.encode()
        + b" "
        + path
        + b" HTTP/1.1\r\n"
        + "".join(f"{line}\r\n" for line in lines).encode()
        + b"\r\n"
        + body
    )


def chunked(*pieces: bytes) -> bytes:
    """A body in the chunked coding."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))
