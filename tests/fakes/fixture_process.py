"""The real fixture API as a process on loopback, and clients of its two ports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import IO, Any, Self

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 30


@dataclass(frozen=True)
class Reply:
    """An answer as it was on the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class FixtureProcess:
    """One process, from its ready line to its end."""

    def __init__(
        self, suite: Path, *, log: IO[bytes] | None = None, with_stdin: bool = True, **environment: str
    ) -> None:
        own = {
            "DATASET_PATH": str(suite),
            "FIXTURE_HOST": "127.0.0.1",
            "FIXTURE_PORT": "0",
            "CONTROL_PORT": "0",
        }
        self._clients: list[DataClient] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fixture_api", *(["stdin"] if with_stdin else [])],
            cwd=ROOT,
            env=os.environ | own | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        if with_stdin:
            assert self.process.stdin is not None
            self.process.stdin.write(b"{}\n")
            self.process.stdin.flush()

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.ready = json.loads(line)
        self.data_port: int = self.ready["dataPort"]
        self.control_port: int = self.ready["controlPort"]
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def client(self) -> DataClient:
        """A connection of its own, closed with the process."""
        self._clients.append(DataClient(self.data_port))
        return self._clients[-1]

    def control(self, path: str, record: dict[str, Any] | None = None) -> Reply:
        """One request on the control port: POST with a record, else GET."""
        body = None if record is None else json.dumps(record)
        return one_request(self.control_port, "GET" if record is None else "POST", path, body)

    def open(self, case: str, attempt: int = 1, **opening: Any) -> str:
        """Opens an attempt and returns its prefix."""
        reply = self.control("/attempts", {"case": case, "attempt": attempt, **opening})
        assert reply.status == 201, reply.body
        prefix: str = reply.json()["prefix"]
        return prefix

    def close(self, case: str, attempt: int = 1) -> dict[str, Any]:
        reply = self.control("/attempts/close", {"case": case, "attempt": attempt})
        assert reply.status == 200, reply.body
        closed: dict[str, Any] = reply.json()
        return closed


class DataClient:
    """A keep-alive connection to the data port."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)

    def ask(self, method: str, target: str, json_body: Any = None, **headers: str) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = None
        if json_body is not None:
            body = json.dumps(json_body)
            sent["content-type"] = "application/json"
        self._connection.request(method, target, body, sent)
        return reply_of(self._connection.getresponse())

    def close(self) -> None:
        self._connection.close()


def one_request(port: int, method: str, path: str, body: str | None = None) -> Reply:
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request(method, path, body)
        return reply_of(connection.getresponse())
    finally:
        connection.close()


def reply_of(response: HTTPResponse) -> Reply:
    return Reply(response.status, tuple(response.getheaders()), response.read())
