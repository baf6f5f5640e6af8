"""The way into agent_host over TCP: one connection is let in, the first, or the first that knows the token."""

import hashlib
import select
import socket

MOST_WAITING = 32
"""Connections that said nothing yet; the oldest is dropped for another one, so nobody keeps the runner out."""
MOST_BYTES = 256
"""Of a first line."""


def admitted(listener: socket.socket, *, token_sha256: str | None) -> int:
    """The descriptor of the one connection; the caller listens no more then.

    With `token_sha256` (hex), its first line is a text of that digest, and nothing came behind it yet.
    """
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # so it is on what it accepts
    admit = listener.accept()[0] if token_sha256 is None else _knowing(listener, token_sha256)
    return admit.detach()


def _knowing(listener: socket.socket, token_sha256: str) -> socket.socket:
    waiting: dict[socket.socket, bytes] = {}
    while True:
        for ready in select.select([listener, *waiting], [], [])[0]:
            if ready is listener:
                _take(listener, waiting)
            elif ready in waiting and _knows(ready, waiting, token_sha256):
                del waiting[ready]
                for other in waiting:
                    other.close()
                return ready


def _take(listener: socket.socket, waiting: dict[socket.socket, bytes]) -> None:
    if len(waiting) >= MOST_WAITING:
        oldest = next(iter(waiting))
        del waiting[oldest]
        oldest.close()
    connection = listener.accept()[0]
    connection.settimeout(0)  # never waited for
    waiting[connection] = b""


def _knows(connection: socket.socket, waiting: dict[socket.socket, bytes], token_sha256: str) -> bool:
    """True for the right line; a wrong one, an end and an error drop the connection; else it goes on waiting."""
    try:
        piece = connection.recv(MOST_BYTES)
    except OSError:
        piece = b""
    said = waiting[connection] + piece
    if said.endswith(b"\n") and hashlib.sha256(said[:-1]).hexdigest() == token_sha256:
        return True
    if piece and b"\n" not in said and len(said) < MOST_BYTES:
        waiting[connection] = said
        return False
    del waiting[connection]
    connection.close()
    return False
