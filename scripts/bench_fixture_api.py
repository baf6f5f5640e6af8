"""Measures the fixture API beside a bare FastAPI handler and a bare ASGI app that parse the same body, in one run.

Prints a table: requests/s at 16 connections, p50 at one connection, the server's CPU time for one request, each
relative to FastAPI's, and what opening and closing an attempt costs. Server and client have a core each where there
are two. The best of the rounds counts: whatever else runs on the machine can only make one worse. Takes 15 seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvloop

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
MANY_S, ONE_S = 0.5, 0.3
MANY = 16
BODY = json.dumps({"order_id": "synthetic-42", "amount": 24900, "approval_id": None, "kind": "refund"}).encode()
CASE = "bench"

SUITE = {
    "cases.json": {"cases": [{"id": CASE, "input": "go", "expect": {"neverTools": ["refund"]}}]},
    "routes.json": {
        "routes": [
            {
                "id": f"refund-{number}",
                "method": "POST",
                "path": f"/orders/{{order_id}}/refunds-{number}",
                "match": {"json": {"kind": "refund"}},
                "responses": [{"json": {"status": "issued"}}],
            }
            for number in range(10)
        ]
    },
    "tools.json": {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "refund",
                    "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
                },
                "http": {"method": "POST", "path": "/orders/{order_id}/refunds-7"},
            }
        ]
    },
    "state.json": {},
}

BARE = """
import json, socket, sys, asyncio, uvicorn, uvloop
from typing import Any
from fastapi import FastAPI
app = FastAPI()
@app.post("/orders/{order_id}/refunds-7")
async def refund(order_id: str, body: dict[str, Any]) -> dict[str, str]:
    return {"status": "issued"}
async def asgi(scope, receive, send):
    json.loads((await receive())["body"])
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-type", b"application/json"), (b"content-length", b"19")]})
    await send({"type": "http.response.body", "body": b'{"status":"issued"}'})
bound = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"dataPort": bound.getsockname()[1], "controlPort": 0}), flush=True)
served = {"fastapi": app, "asgi": asgi}[sys.argv[1]]
config = uvicorn.Config(served, http="httptools", ws="none", lifespan="off", log_config=None, access_log=False,
                        date_header=False, server_header=False, interface="asgi3")
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(uvicorn.Server(config).serve(sockets=[bound]))
"""


@dataclass
class Server:
    """A server under measurement."""

    name: str
    data_port: int
    control_port: int
    pid: int
    rates: list[float] = field(default_factory=list)
    """Requests/s at MANY connections, one per round."""
    p50s_ms: list[float] = field(default_factory=list)
    """Of the requests at one connection, one per round."""
    cpu_us: list[float] = field(default_factory=list)
    """CPU time of the server for one request at MANY connections, one per round."""


class Client(asyncio.Protocol):
    """One keep-alive connection that sends the same request again as soon as it was answered."""

    def __init__(self, request: bytes, until: float, latencies_s: list[float]) -> None:
        self._request = request
        self._until = until
        self._latencies_s = latencies_s
        self.answered = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        """Sends the first request."""
        self._transport = transport
        self._length = 0
        self._due = 0
        self._send()

    def _send(self) -> None:
        self._sent_at = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Counts a whole answer and sends the next request; all answers are as long as the first one."""
        if not self._length:
            self._length = self._due = answer_length(data)
        self._due -= len(data)
        if self._due > 0:
            return
        self._due = self._length
        now = time.perf_counter()
        self.answered += 1
        self._latencies_s.append(now - self._sent_at)
        if now < self._until:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the measurement of this connection."""
        self.done.set_result(None) if exc is None else self.done.set_exception(exc)


def answer_length(data: bytes) -> int:
    """The length of an answer that begins with these bytes, which must hold its headers; only a 200 is measured."""
    head, end, _ = data.partition(b"\r\n\r\n")
    if not end or not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"not measured: {data!r}")
    return len(head) + len(end) + int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])


async def load(port: int, path: str, *, connections: int, seconds: float) -> tuple[float, list[float]]:
    """Requests/s and the latency of each request in seconds."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}\r\n\r\n"
    latencies_s: list[float] = []
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    clients = [
        (
            await loop.create_connection(
                lambda: Client(head.encode() + BODY, began + seconds, latencies_s), "127.0.0.1", port
            )
        )[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(client.done for client in clients))
    return sum(client.answered for client in clients) / (time.perf_counter() - began), latencies_s


@contextmanager
def started(name: str, argv: list[str], environment: dict[str, str]) -> Iterator[Server]:
    """The server's process on the last core, ended afterwards."""
    cores = sorted(os.sched_getaffinity(0))
    process = subprocess.Popen(argv, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, text=True)
    try:
        os.sched_setaffinity(process.pid, {cores[-1]})
        assert process.stdout is not None  # noqa: S101 - asked for above
        ready = json.loads(process.stdout.readline())
        yield Server(name, ready["dataPort"], ready["controlPort"], process.pid)
    finally:
        process.kill()
        process.wait()


def measure(server: Server) -> None:
    """One round."""
    with attempt_of(server) as prefix:
        path = f"{prefix}/orders/synthetic-42/refunds-7"
        before_s = cpu_s(server.pid)
        rate, latencies_s = uvloop.run(load(server.data_port, path, connections=MANY, seconds=MANY_S))
        server.cpu_us.append((cpu_s(server.pid) - before_s) / len(latencies_s) * 1e6)
        server.rates.append(rate)
        _, latencies_s = uvloop.run(load(server.data_port, path, connections=1, seconds=ONE_S))
        server.p50s_ms.append(statistics.median(latencies_s) * 1000)


def cpu_s(pid: int) -> float:
    """CPU time that a process has used, in seconds (Linux: it counts in hundredths)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def attempt_of(server: Server) -> Iterator[str]:
    """The prefix of an attempt opened on the control port; the empty one where there is no control port."""
    if not server.control_port:
        yield ""
        return
    call = control(server.control_port)
    yield call("/attempts", {"case": CASE, "attempt": 1})["prefix"]
    call("/attempts/close", {"case": CASE, "attempt": 1})


def control(port: int) -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """A keep-alive client of the control port."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)

    def call(path: str, record: dict[str, Any]) -> dict[str, Any]:
        connection.request("POST", path, json.dumps(record))
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer

    return call


def open_and_close_ms(server: Server, *, times: int = 300) -> float:
    """The median of opening and closing an attempt that makes no request."""
    call = control(server.control_port)
    taken = []
    for number in range(times):
        began = time.perf_counter()
        call("/attempts", {"case": CASE, "attempt": number + 2})
        call("/attempts/close", {"case": CASE, "attempt": number + 2})
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


def main() -> None:
    """Measures in turns, so that a slow moment of the machine meets all of them."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    with tempfile.TemporaryDirectory() as folder:
        for name, value in SUITE.items():
            (Path(folder) / name).write_text(json.dumps(value))
        ours = {"DATASET_PATH": folder, "FIXTURE_HOST": "127.0.0.1", "FIXTURE_PORT": "0", "CONTROL_PORT": "0"}
        python = sys.executable
        with (
            started("bare FastAPI handler", [python, "-c", BARE, "fastapi"], {}) as bare,
            started("bare ASGI app", [python, "-c", BARE, "asgi"], {}) as floor,
            started("fixture API", [python, "-m", "fixture_api"], ours) as fixture_api,
        ):
            servers = (bare, floor, fixture_api)
            for _ in range(ROUNDS):
                for server in servers:
                    measure(server)
            cost_ms = open_and_close_ms(fixture_api)
    print_table(servers, cost_ms)


def print_table(servers: tuple[Server, ...], cost_ms: float) -> None:
    """The best rounds, each relative to the first server's."""
    columns = (
        [max(server.rates) for server in servers],
        [min(server.p50s_ms) for server in servers],
        [min(server.cpu_us) for server in servers],
    )
    titles = (f"req/s at {MANY}", "p50 ms at 1", "CPU us")
    print(f"{'':22}" + "".join(f"{title:>14}{'x FastAPI':>12}" for title in titles))
    for row, server in enumerate(servers):
        cells = (
            f"{column[row]:>14.{places}f}{column[row] / column[0]:>12.2f}"
            for column, places in zip(columns, (0, 3, 1), strict=True)
        )
        print(f"{server.name:22}" + "".join(cells))
    print(f"fixture API's budget: >= 2.50 x req/s, <= 0.70 x p50; an attempt opened and closed: {cost_ms:.2f} ms (< 1)")


if __name__ == "__main__":
    main()
