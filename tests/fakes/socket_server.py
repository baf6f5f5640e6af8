"""A server of real sockets that does to each request what a test says: answers, drips, cuts, or stays silent."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Deed = Callable[[socket.socket], None]


def reply(body: bytes = b"{}", *, status: int = 200, headers: str = "") -> Deed:
    """A whole answer."""
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {len(body)}\r\n\r\n"
    return lambda connection: connection.sendall(head.encode() + body)


def drip(*, every_s: float, part: str) -> Deed:
    """An answer of which head or body never ends, one byte at a time: no single read ever waits long."""

    def deed(connection: socket.socket) -> None:
        head = b"HTTP/1.1 200 X\r\nx-long: " if part == "head" else b"HTTP/1.1 200 X\r\ncontent-length: 9999\r\n\r\n"
        with suppress(OSError):
            connection.sendall(head)
            while True:
                connection.sendall(b"x")
                time.sleep(every_s)

    return deed


def cut(connection: socket.socket) -> None:
    """No answer: the connection is closed."""
    connection.shutdown(socket.SHUT_RDWR)


def silence(connection: socket.socket) -> None:
    """No answer: the connection stays."""


@dataclass
class SocketServer:
    """What it was asked, piece by piece as it came from the network."""

    url: str
    pieces: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextmanager
def socket_server(deeds: Sequence[Deed]) -> Iterator[SocketServer]:
    """Within: one deed for each request, whatever connection it comes on; health probes are answered beside them."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = SocketServer(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
    waiting = iter(deeds)
    open_connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError):
            while piece := connection.recv(1 << 20):
                if piece.startswith(b"GET /health"):
                    reply(b'{"status":"ok"}')(connection)
                    continue
                server.pieces.append(piece)
                next(waiting)(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                server.connections += 1
                open_connections.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in open_connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        thread.join()
