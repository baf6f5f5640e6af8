"""The servers that the bench of the fixture API starts: ours over a suite of many routes, and the two bare ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parent.parent
CASE = "bench"
_ALL_CORES = os.sched_getaffinity(0)

_BARE = """
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


@dataclass(frozen=True)
class Server:
    """A server under measurement."""

    name: str
    data_port: int
    control_port: int
    """0: it has none."""
    pid: int

    def memory_kb(self) -> int:
        """Resident memory (Linux)."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])


@contextmanager
def started(name: str, what: Path | Literal["fastapi", "asgi"]) -> Iterator[Server]:
    """The fixture API over that suite, or a bare server, on the last core; ended afterwards."""
    if isinstance(what, Path):
        argv = [sys.executable, "-m", "fixture_api"]
        own = {"DATASET_PATH": str(what), "FIXTURE_HOST": "127.0.0.1", "FIXTURE_PORT": "0", "CONTROL_PORT": "0"}
    else:
        argv, own = [sys.executable, "-c", _BARE, what], {}
    process = subprocess.Popen(argv, cwd=ROOT, env=os.environ | own, stdout=subprocess.PIPE, text=True)
    try:
        os.sched_setaffinity(process.pid, {max(_ALL_CORES)})
        assert process.stdout is not None  # noqa: S101 - asked for above
        ready = json.loads(process.stdout.readline())
        yield Server(name, ready["dataPort"], ready["controlPort"], process.pid)
    finally:
        process.kill()
        process.wait()


def control(port: int) -> Callable[..., dict[str, Any]]:
    """A keep-alive client: `(method, path, record)` to the answer's JSON."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)

    def call(method: str, path: str, record: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"content-type": "application/json"}
        connection.request(method, path, None if record is None else json.dumps(record), headers)
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer

    return call


@contextmanager
def attempt_of(server: Server) -> Iterator[str]:
    """The prefix of an attempt opened on the control port; the empty one where there is no control port."""
    if not server.control_port:
        yield ""
        return
    call = control(server.control_port)
    yield call("POST", "/attempts", {"case": CASE, "attempt": 1})["prefix"]
    call("POST", "/attempts/close", {"case": CASE, "attempt": 1})


def write_suite(folder: Path, *, routes: int) -> Path:
    """A suite of so many routes with a parameter and a JSON match, one of them bound to a tool."""
    folder.mkdir()
    files: dict[str, Any] = {
        "cases.json": {"cases": [{"id": CASE, "input": "go", "expect": {"neverTools": ["refund"]}}]},
        "routes.json": {"routes": [_route(number) for number in range(routes)]},
        "tools.json": {"tools": [_TOOL]},
        "state.json": {},
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value))
    return folder


def _route(number: int) -> dict[str, Any]:
    return {
        "id": f"refund-{number}",
        "method": "POST",
        "path": f"/orders/{{order_id}}/refunds-{number}",
        "match": {"json": {"kind": "refund"}},
        "responses": [{"json": {"status": "issued"}}],
    }


_TOOL = {
    "type": "function",
    "function": {
        "name": "refund",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    },
    "http": {"method": "POST", "path": "/orders/{order_id}/refunds-7"},
}
