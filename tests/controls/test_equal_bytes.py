"""The same requests get the same bytes: from two fresh servers, and from one that serves 64 attempts at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fakes.fixture_process import TIMEOUT_S, FixtureProcess
from tests.fakes.generated_requests import SEQUENCES, TOURS, Asked, Sequence
from tests.fakes.raw_wire import ClosedError, Wire

COUNT = 500
TOGETHER = 64
GENERATED = settings(
    max_examples=COUNT,
    derandomize=True,  # the same sequences everywhere and always
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


class Told(NamedTuple):
    """Everything that comes out of one attempt."""

    answers: list[bytes]
    closed: bytes
    """The record of its closing, as it was on the wire of the control port."""


class Server:
    """A server with kept connections to both ports."""

    def __init__(self, api: FixtureProcess) -> None:
        self._control = HTTPConnection("127.0.0.1", api.control_port, timeout=TIMEOUT_S)
        self._api = api
        self.wire = Wire(api.data_port)

    def wires(self, count: int) -> list[Wire]:
        return [Wire(self._api.data_port) for _ in range(count)]

    def open(self, case: str, attempt: int) -> str:
        opening = {"case": case, "attempt": attempt, "model": "scripted/support", "prompt": "polite", "faults": True}
        limits = {"toolCallLimit": 10, "modelCallLimit": 3, "requestLimit": 10}
        prefix: str = json.loads(self._ask("/attempts", opening | limits))["prefix"]
        return prefix

    def close(self, case: str, attempt: int) -> bytes:
        return self._ask("/attempts/close", {"case": case, "attempt": attempt})

    def play(self, sequence: Sequence, attempt: int) -> Told:
        """One attempt, alone."""
        prefix = self.open(sequence.case, attempt)
        answers = []
        for asked in sequence.requests:
            self.wire.send(asked.wire(prefix))
            answers.append(self.read(self.wire, asked))
            self.wire = self.usable(self.wire)
        return Told(answers, self.close(sequence.case, attempt))

    def usable(self, wire: Wire) -> Wire:
        """The connection, or a new one for one that is closed."""
        if not wire.is_closed:
            return wire
        wire.close()
        return Wire(self._api.data_port)

    def read(self, wire: Wire, asked: Asked) -> bytes:
        """The answer, or what there was of it before the connection was closed."""
        try:
            return wire.answer(to_head=asked.method == "HEAD")
        except ClosedError as error:
            return error.received + b"(closed)"

    def end(self) -> None:
        self.wire.close()
        self._control.close()

    def _ask(self, path: str, record: dict[str, Any]) -> bytes:
        self._control.request("POST", path, json.dumps(record))
        response = self._control.getresponse()
        body = response.read()
        assert response.status in (200, 201), body
        return body


@pytest.fixture(scope="module")
def servers(suite: Path) -> Iterator[tuple[Server, Server, Server]]:
    with FixtureProcess(suite) as one, FixtureProcess(suite) as other, FixtureProcess(suite) as crowded:
        started = Server(one), Server(other), Server(crowded)
        yield started
        for server in started:
            server.end()


def play_together(server: Server, sequences: list[Sequence], *, first_attempt: int) -> list[Told]:
    """All attempts are open at once and ask in turns; in each turn all requests are sent before any answer is read."""
    attempts = range(first_attempt, first_attempt + len(sequences))
    prefixes = [server.open(each.case, attempt) for each, attempt in zip(sequences, attempts, strict=True)]
    wires = server.wires(len(sequences))
    answers: list[list[bytes]] = [[] for _ in sequences]
    for turn in range(max(len(each.requests) for each in sequences)):
        asking = [at for at, each in enumerate(sequences) if turn < len(each.requests)]
        for at in asking:
            wires[at].send(sequences[at].requests[turn].wire(prefixes[at]))
        for at in reversed(asking):
            answers[at].append(server.read(wires[at], sequences[at].requests[turn]))
            wires[at] = server.usable(wires[at])
    for wire in wires:
        wire.close()
    closed = [server.close(each.case, attempt) for each, attempt in zip(sequences, attempts, strict=True)]
    return [Told(*parts) for parts in zip(answers, closed, strict=True)]


def nameless(closed: bytes) -> bytes:
    """The record without the attempt's number."""
    return re.sub(rb'"attempt":\d+', b'"attempt":0', closed)


def test_500_sequences_get_equal_bytes_and_journals_from_two_servers_and_among_64_attempts(
    servers: tuple[Server, Server, Server],
) -> None:
    one, other, crowded = servers
    played: list[tuple[Sequence, Told]] = []

    def alone(sequence: Sequence) -> None:
        attempt = len(played) + 1
        played.append((sequence, one.play(sequence, attempt)))
        assert other.play(sequence, attempt) == played[-1][1]

    for tour in TOURS:
        alone(tour)
    GENERATED(given(sequence=SEQUENCES)(alone))()
    assert len(played) >= COUNT
    for start in range(0, len(played), TOGETHER):
        batch = played[start : start + TOGETHER]
        together = play_together(crowded, [sequence for sequence, _ in batch], first_attempt=start + 1)
        for (sequence, expected), found in zip(batch, together, strict=True):
            assert found.answers == expected.answers, sequence
            assert nameless(found.closed) == nameless(expected.closed), sequence
    assert_that_the_sequences_are_worth_it([told for _, told in played])


def assert_that_the_sequences_are_worth_it(played: list[Told]) -> None:
    """Most of what can be served was served: else equal bytes would say little."""
    rows = [served["row"] for told in played for served in json.loads(told.closed)["served"]]
    routes = {row["route"] for row in rows}
    statuses = {int(answer[9:12]) for told in played for answer in told.answers}
    assert {"order", "order-in-full", "order-for-staff", "refund", "refund-of-one", "cancel", "line", "own"} <= routes
    assert {"model:support#0", "model:support#1", "model:support#2", "model:support#3", "model:support"} <= routes
    assert {200, 201, 202, 204, 304, 400, 403, 404, 409, 429, 502, 503} <= statuses
    faults = {row["fault"].partition("#")[0] for row in rows if row["fault"]}
    assert faults == {"malformed-json", "truncated", "wrong-content-type", "status", "empty"}
    assert {row["via"] for row in rows} == {"http", "model", "mcp"}
    assert any(b"text/event-stream" in answer for told in played for answer in told.answers)
    assert not any(json.loads(told.closed)["suiteError"] for told in played)
    assert {row["tool"] for row in rows} == {"lookup_order", "refund", "search", None}


def test_the_wire_has_no_header_that_depends_on_time_place_or_attempt(servers: tuple[Server, Server, Server]) -> None:
    one = servers[0]
    prefix = one.open("one", 100_000)
    targets = ("/orders/a-1", "/bytes", "/none", "/v1/models", "/health", "/thrice")
    heads = [one.wire.ask(f"GET {prefix}{target} HTTP/1.1\r\nhost: lab\r\n\r\n".encode()) for target in targets]
    heads.append(one.wire.ask(b"GET /health HTTP/1.1\r\nhost: lab\r\n\r\n"))
    names = {line.partition(b":")[0] for head in heads for line in head.partition(b"\r\n\r\n")[0].splitlines()[1:]}
    assert names == {b"content-type", b"content-length", b"etag"}
    one.close("one", 100_000)
