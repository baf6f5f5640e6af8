"""One HTTP request whose answer is read as it comes, and that any thread can cut at any time.

The standard library's client: a cut needs the socket itself, no redirect may be followed, and nothing decoded.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from runner.http_calls import CONNECT_S

READ_BYTES = 1 << 16
_PORTS = {"http": 80, "https": 443}


class CallFailedError(Exception):
    """No whole answer came; its text quotes nothing of what was sent or answered."""


@dataclass(frozen=True)
class Address:
    """Where a URL leads."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query."""

    @classmethod
    def of(cls, url: str) -> Address:
        """The parts of an http or https URL."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme], target)


class Call:
    """One POST; `cut` ends it from wherever it is."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._response: HTTPResponse | None = None
        self._is_cut = False
        secure = address.scheme == "https"
        self._connection: HTTPConnection = (HTTPSConnection if secure else HTTPConnection)(
            address.host, address.port, timeout=CONNECT_S
        )

    def post(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
        """Send the request and wait for the answer's head: its status and headers; raises CallFailedError."""
        try:
            self._connect()
        except OSError as trouble:
            raise CallFailedError(f"it could not be reached: {_words(trouble)}") from trouble
        try:
            self._connection.putrequest("POST", self._address.target, skip_accept_encoding=True)
            whole = {"content-length": str(len(body)), "accept-encoding": "identity", "connection": "close", **headers}
            for name, value in whole.items():
                self._connection.putheader(name, value.encode())
            self._connection.endheaders(body)
            self._response = self._connection.getresponse()
        except OSError as trouble:
            raise CallFailedError(f"it gave no answer: {_words(trouble)}") from trouble
        except HTTPException as trouble:
            raise CallFailedError(f"its answer is no HTTP ({type(trouble).__name__})") from trouble
        if self._is_cut:  # the library takes the end of a head that was cut for the end of the head
            raise CallFailedError("it was cut before its answer began")
        return self._response.status, {name.lower(): value for name, value in self._response.getheaders()}

    def _connect(self) -> None:
        self._connection.connect()
        with self._lock:
            self._socket = self._connection.sock
            if self._is_cut:
                raise ConnectionAbortedError("it was cut before it began")
        # whoever calls keeps the time, and cuts
        self._connection.sock.settimeout(None)

    def pieces(self) -> Iterator[bytes]:
        """The answer's body as it comes; raises CallFailedError when it ends before its end."""
        response = self._response
        if response is None:
            raise AssertionError("post comes first")
        try:
            while piece := response.read1(READ_BYTES):
                yield piece
        except OSError as trouble:
            raise CallFailedError(f"its answer broke off: {_words(trouble)}") from trouble
        except HTTPException as trouble:
            raise CallFailedError("its answer broke off") from trouble
        if response.length:
            raise CallFailedError(f"its answer broke off, {response.length} bytes before its end")

    def cut(self) -> None:
        """End the call now; its thread gets a CallFailedError."""
        with self._lock:
            self._is_cut = True
            if self._socket is not None:
                with suppress(OSError):  # it is closed already
                    # not SSLSocket's own, which would take its state away under the reading thread
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection up."""
        with self._lock:
            self._socket = None
        if self._response is not None:
            self._response.close()
        self._connection.close()


def _words(trouble: OSError) -> str:
    if isinstance(trouble, ssl.SSLError):
        return f"TLS failed: {trouble.reason or type(trouble).__name__}"
    return trouble.strerror or str(trouble) or type(trouble).__name__


def accepts_connections(address: Address, *, seconds: float) -> str | None:
    """None when somebody listens there, else what was seen."""
    try:
        socket.create_connection((address.host, address.port), timeout=seconds).close()
    except OSError as trouble:
        return _words(trouble)
    return None
