"""HTTP exchanges with a deadline over the whole exchange, on connections that are kept alive."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any, Protocol
from urllib.parse import urlsplit

from runner import clock

CONNECT_S = 5.0
_LEAST_WAIT_S = 0.001


class UnreachableError(Exception):
    """No answer came: refused, reset, cut off, or no such host."""


class TimedOutError(Exception):
    """The answer was not there in time."""


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    body: bytes
    content_type: str


class _Deadline(threading.local):
    """When the exchange of this thread has to be over."""

    at = float("inf")


_deadline = _Deadline()


class _DeadlineSocket(socket.socket):
    """A socket whose every read waits until the exchange's deadline at most; its own time-out bounds single reads."""

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        left_s = _deadline.at - clock.elapsed_s()
        if left_s <= 0:
            raise TimeoutError("the exchange is past its deadline")
        if self.gettimeout() is not None:
            self.settimeout(max(left_s, _LEAST_WAIT_S))
        return super().recv_into(buffer, nbytes, flags)


class _Connection(HTTPConnection):
    _held: list[bytes] | None = None

    def connect(self) -> None:
        """Connect within CONNECT_S; every later read keeps to the deadline of its exchange."""
        plain = socket.create_connection((self.host, self.port), timeout=self.timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = _DeadlineSocket(plain.family, plain.type, plain.proto, fileno=plain.detach())

    def ask(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], *, seconds: float) -> None:
        """Send head and body as one piece: two would cost both sides a packet and a wake-up more."""
        self._held = []
        try:
            self.request(method, target, body, dict(headers))
            whole = b"".join(self._held)
        finally:
            self._held = None
        if self.sock is None:
            self.timeout = min(CONNECT_S, seconds)
            self.connect()
        self.sock.settimeout(max(seconds, _LEAST_WAIT_S))
        self.sock.sendall(whole)

    def send(self, data: Any) -> None:
        """Hold what belongs to a request; nothing else is sent this way."""
        if self._held is None:
            raise AssertionError("a request is sent by `ask`")
        self._held.append(data)


class Exchange(Protocol):
    """Anything that answers requests (`Server`)."""

    def exchange(
        self, method: str, target: str, *, seconds: float, body: bytes | None = None, headers: Mapping[str, str]
    ) -> Answer:
        """See `Server.exchange`."""
        ...


class Server:
    """One server, spoken to by many threads; idle connections are kept alive, `connections` of them at most."""

    def __init__(self, url: str, *, connections: int) -> None:
        parts = urlsplit(url)
        self._base = parts.path.rstrip("/")
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._idle: deque[_Connection] = deque(maxlen=connections)

    def exchange(
        self, method: str, target: str, *, seconds: float, body: bytes | None = None, headers: Mapping[str, str]
    ) -> Answer:
        """One request and its whole answer; `target` is path and query, already encoded.

        Raises:
            UnreachableError: no complete answer came.
            TimedOutError: `seconds` were over first.

        """
        _deadline.at = clock.elapsed_s() + seconds
        connection = self._connection()
        try:
            connection.ask(method, self._base + target, body, headers, seconds=seconds)
            response = connection.getresponse()
            answer = Answer(response.status, response.read(), response.headers.get("content-type", ""))
        except TimeoutError as trouble:
            connection.close()
            raise TimedOutError(f"no answer within {seconds:g} s") from trouble
        except OSError as trouble:
            connection.close()
            raise UnreachableError(str(trouble)) from trouble
        except HTTPException as trouble:  # its text may quote the path, which holds the attempt's prefix
            connection.close()
            raise UnreachableError(f"the answer is no HTTP ({type(trouble).__name__})") from trouble
        if connection.sock is not None:  # else the server asked to close it
            self._keep(connection)
        return answer

    def _connection(self) -> _Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return _Connection(self._host, self._port)

    def _keep(self, connection: _Connection) -> None:
        if len(self._idle) == self._idle.maxlen:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()
