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

LATENCY = Toxic(type="latency", attributes={"latency": 1})
LIMIT = Toxic(type="limit_data", attributes={"bytes": 20})
TIMEOUT = Toxic(type="timeout", attributes={"timeout": 0})
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n" + b"x" * 40
PATIENCE_S = 60.0


class Upstream:
    """A server that answers each request, knows which have come, and never closes first."""

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._came: dict[str, threading.Event] = {}
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def ask(self, url: str, *, name: str = "x", waits_for_answer: bool = True) -> socket.socket:
        """Send one request and wait until it came, or for what comes back; the connection stays open."""
        parts = urlsplit(url)
        came = self._came[name] = threading.Event()  # one of that name may have come before
        wire = socket.create_connection((parts.hostname or "", parts.port or 80), timeout=PATIENCE_S)
        wire.sendall(f"GET /{name} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert came.wait(PATIENCE_S), "the request did not come"
        if waits_for_answer:
            wire.recv(4096)
        return wire

    def _accept(self) -> None:
        while True:
            try:
                wire, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(wire,), daemon=True).start()

    def _serve(self, wire: socket.socket) -> None:
        with wire:
            try:
                while request := wire.recv(4096):
                    self._came.setdefault(request.split()[1].decode().lstrip("/"), threading.Event()).set()
                    wire.sendall(ANSWER)
            except OSError:
                return  # the proxy cut it


class Attempted(NamedTuple):
    """One attempt: whether it asked, and whether the witness says that it met its fault."""

    kind: str
    did: bool
    told: bool


def made_attempts(proxies: FaultProxies, upstream: Upstream, *, count: int, threads: int) -> Iterator[Attempted]:
    """As many attempts, a third of which never ask; the others leave their connections open when they end."""
    url = f"http://{upstream.address}/~x"

    def attempt(number: int) -> Attempted:
        chance = random.Random(number)  # noqa: S311 - only to be the same every time
        toxic, asks = chance.choice((LATENCY, LIMIT, TIMEOUT)), chance.random() < 2 / 3
        left = []
        with proxies.around([toxic], fixture_url=url, model_url=url) as led:
            for part in range(2 if asks else 0):
                name, waits = f"{number}-{part}", toxic is not TIMEOUT
                left.append(upstream.ask(led.fixture_url, name=name, waits_for_answer=waits))
        told = all_met([toxic], led.flows)
        for wire in left:
            wire.close()
        return Attempted(toxic.type, did=asks, told=told)

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(attempt, range(count))
