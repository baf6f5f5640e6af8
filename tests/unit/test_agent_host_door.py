"""Who is let in at agent_host's door: the first connection, or the first that knows the token."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from agent_host.door import MOST_BYTES, MOST_WAITING, admitted

TOKEN = b"5f1c"
DIGEST = hashlib.sha256(TOKEN).hexdigest()
PATIENCE_S = 20.0


class Door:
    """A listener with someone behind it who waits for the right one."""

    def __init__(self, pool: ThreadPoolExecutor, *, token_sha256: str | None) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.inside: Future[int] = pool.submit(admitted, self.listener, token_sha256=token_sha256)

    def knock(self, said: bytes = b"") -> socket.socket:
        connection = socket.create_connection(self.listener.getsockname(), timeout=PATIENCE_S)
        connection.sendall(said)
        return connection

    def is_the_same(self, connection: socket.socket) -> bool:
        with socket.socket(fileno=self.inside.result(PATIENCE_S)) as admitted_one:
            return bool(admitted_one.getpeername() == connection.getsockname())


@pytest.fixture
def door() -> Iterator[Door]:
    with ThreadPoolExecutor(1) as pool:
        made = Door(pool, token_sha256=DIGEST)
        yield made
        if not made.inside.done():
            with made.knock(TOKEN + b"\n"):
                os.close(made.inside.result(PATIENCE_S))
        made.listener.close()


def is_dropped(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_without_a_token_the_first_is_let_in() -> None:
    with ThreadPoolExecutor(1) as pool:
        made = Door(pool, token_sha256=None)
        with made.knock() as first:
            assert made.is_the_same(first)
        made.listener.close()


@pytest.mark.parametrize("said", [b"wrong\n", b"\n", TOKEN + b"\nmore", TOKEN + b"\r\n", b"x" * MOST_BYTES])
def test_who_says_something_else_is_dropped_and_the_right_one_is_still_let_in(door: Door, said: bytes) -> None:
    with door.knock(said) as wrong:
        assert is_dropped(wrong)
    with door.knock(TOKEN + b"\n") as right:
        assert door.is_the_same(right)


def test_a_digest_is_no_token(door: Door) -> None:
    with door.knock(DIGEST.encode() + b"\n") as wrong:
        assert is_dropped(wrong)


def test_those_who_say_nothing_keep_nobody_out(door: Door) -> None:
    silent = [door.knock() for _ in range(MOST_WAITING + 3)]
    assert is_dropped(silent[0])
    with door.knock(TOKEN + b"\n") as right:
        assert door.is_the_same(right)
    assert all(is_dropped(one) for one in silent)
    for one in silent:
        one.close()


def test_a_token_may_come_in_pieces(door: Door) -> None:
    with door.knock(TOKEN[:2]) as right:
        threading.Timer(0.05, right.sendall, [TOKEN[2:] + b"\n"]).start()
        assert door.is_the_same(right)


def test_one_that_leaves_in_the_middle_is_forgotten(door: Door) -> None:
    door.knock(TOKEN[:2]).close()
    with door.knock(TOKEN + b"\n") as right:
        assert door.is_the_same(right)
