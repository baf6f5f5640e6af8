"""HTTP exchanges with a deadline over the whole exchange, on connections that are kept alive."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from urllib3 import HTTPConnectionPool, Timeout
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError
from urllib3.util import parse_url

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
    """A socket whose every read waits until the exchange's deadline at most: urllib3 bounds single reads only."""

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        left_s = _deadline.at - clock.elapsed_s()
        if left_s <= 0:
            raise TimeoutError("the exchange is past its deadline")
        if self.gettimeout() is not None:
            self.settimeout(max(left_s, _LEAST_WAIT_S))
        return super().recv_into(buffer, nbytes, flags)


class _DeadlineConnection(HTTPConnection):
    _held: list[bytes] | None = None

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send head and body as one piece: two would cost both sides a packet and a wake-up more."""
        self._held = []
        try:
            super().request(*args, **kwargs)
            whole = b"".join(self._held)
        finally:
            self._held = None
        super().send(whole)

    def send(self, data: Any) -> None:
        """Hold what belongs to a request, send anything else."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def _new_conn(self) -> socket.socket:
        plain = super()._new_conn()
        timeout_s = plain.gettimeout()
        bounded = _DeadlineSocket(plain.family, plain.type, plain.proto, fileno=plain.detach())
        bounded.settimeout(timeout_s)
        return bounded


class _Pool(HTTPConnectionPool):
    ConnectionCls = _DeadlineConnection


class Exchange(Protocol):
    """Anything that answers requests (`Server`)."""

    def exchange(
        self, method: str, target: str, *, seconds: float, body: bytes | None = None, headers: Mapping[str, str]
    ) -> Answer:
        """See `Server.exchange`."""
        ...


class Server:
    """One server, spoken to by many threads; `connections` are kept alive."""

    def __init__(self, url: str, *, connections: int) -> None:
        parts = parse_url(url)
        self._base = (parts.path or "").rstrip("/")
        self._pool = _Pool(parts.host or "", parts.port or 80, maxsize=connections, block=False)

    def exchange(
        self, method: str, target: str, *, seconds: float, body: bytes | None = None, headers: Mapping[str, str]
    ) -> Answer:
        """One request and its whole answer; `target` is path and query, already encoded.

        Raises:
            UnreachableError: no complete answer came.
            TimedOutError: `seconds` were over first.

        """
        _deadline.at = clock.elapsed_s() + seconds
        timeout = Timeout(connect=min(CONNECT_S, seconds), read=max(seconds, _LEAST_WAIT_S))
        try:
            response = self._pool.urlopen(
                method,
                self._base + target,
                body=body,
                headers=headers,
                timeout=timeout,
                retries=False,
                redirect=False,
                decode_content=False,
            )
        except NewConnectionError as trouble:  # before its parent: a refused connection is no time-out
            raise UnreachableError(_cause(trouble)) from trouble
        except (ReadTimeoutError, ConnectTimeoutError) as trouble:
            raise TimedOutError(f"no answer within {seconds:g} s") from trouble
        except (HTTPError, OSError) as trouble:
            raise UnreachableError(_cause(trouble)) from trouble
        return Answer(status=response.status, body=response.data, content_type=response.headers.get("content-type", ""))

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()


def _cause(trouble: Exception) -> str:
    """What the system said; urllib3's own texts name its objects."""
    return str(trouble.__cause__ or trouble.__context__ or trouble)
