"""Many attempts through proxies, each of which asks or does not, and leaves its connections open."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from contracts.suite.fault import Toxic
from runner.faults.proxies import FaultProxies
from runner.faults.witness import all_met

TOXICS = (
    Toxic(type="latency", attributes={"latency": 1}),
    Toxic(type="limit_data", attributes={"bytes": 20}),
    Toxic(type="timeout", attributes={"timeout": 0}),
)
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n" + b"x" * 40


class Upstream:
    """A server that answers each request and never closes first."""

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def ask(self, url: str) -> socket.socket:
        """Send one request and wait a moment for an answer; the connection stays open."""
        parts = urlsplit(url)
        wire = socket.create_connection((parts.hostname or "", parts.port or 80), timeout=0.05)
        wire.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        try:
            wire.recv(4096)
        except TimeoutError:
            return wire  # a toxic keeps it
        return wire

    def _accept(self) -> None:
        while True:
            try:
                wire, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=_serve, args=(wire,), daemon=True).start()


def _serve(wire: socket.socket) -> None:
    with wire:
        try:
            while wire.recv(4096):
                wire.sendall(ANSWER)
        except OSError:
            return  # the proxy cut it


class Attempted(NamedTuple):
    """One attempt: whether it asked, and whether the witness says that it met its fault."""

    kind: str
    did: bool
    told: bool


def made_attempts(proxies: FaultProxies, upstream: Upstream, *, count: int, threads: int) -> Iterator[Attempted]:
    """As many attempts, a third of which never ask; the others leave a connection open when they end."""
    url = f"http://{upstream.address}/~x"

    def attempt(number: int) -> Attempted:
        chance = random.Random(number)  # noqa: S311 - only to be the same every time
        toxic, asks = chance.choice(TOXICS), chance.random() < 2 / 3
        left = []
        with proxies.around([toxic], fixture_url=url, model_url=url) as led:
            if asks:
                left = [upstream.ask(led.fixture_url) for _ in range(1 if toxic.type == "timeout" else 2)]
        told = all_met([toxic], led.flows)
        for wire in left:
            wire.close()
        return Attempted(toxic.type, did=asks, told=told)

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(attempt, range(count))
