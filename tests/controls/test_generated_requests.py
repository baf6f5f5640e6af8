"""Ten thousand odd requests: none breaks the fixture API, keeps it waiting for ever, or stands in another one's way."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.hostile_requests import Hostile, hostile_requests
from tests.fakes.rich_suite import rich_suite

COUNT = 10_000
SEED = 4
TOGETHER = 64
PER_ATTEMPT = 1000
HEADERS_S, BODY_S = 1.0, 1.0
"""Of the server of this test; what a user has is in fixture_api.connections."""
PATIENCE_S = 20.0
"""Beyond these, for a busy machine: whoever waits longer is not served."""
GROWTH_KB = 48 * 1024
"""How much more memory the server may have after the last request than after the first thousand."""
_SHOWN = 400


class Outcome(NamedTuple):
    """What became of a request."""

    status: int | None
    """None: the connection was closed without an answer."""
    received: bytes
    is_in_time: bool


class Served:
    """The server, with what it says on stderr."""

    def __init__(self, api: FixtureProcess, log: IO[bytes]) -> None:
        self.api = api
        self._log = log

    def said(self) -> bytes:
        self._log.seek(0)
        return self._log.read()

    def memory_kb(self) -> int:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.api.process.pid}/status").read_text())
        assert found
        return int(found[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    suite = rich_suite(tmp_path_factory.mktemp("suites") / "suite")
    with (
        tempfile.TemporaryFile() as log,
        FixtureProcess(
            suite,
            log=log,
            FIXTURE_HEADERS_S=str(HEADERS_S),
            FIXTURE_BODY_S=str(BODY_S),
            FIXTURE_LINGER_S=str(PATIENCE_S),  # else a client slower than the server's 2 s loses its refusal
        ) as api,
    ):
        yield Served(api, log)


async def outcome_of(port: int, hostile: Hostile) -> Outcome:
    """Sends it and waits for a final answer's head and what comes with it, or for the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    try:
        async with asyncio.timeout(HEADERS_S + BODY_S + PATIENCE_S):
            sending = asyncio.create_task(_send(writer, hostile))
            while not (found := _final_head(received)) and (piece := await _piece(reader)):
                received += piece
            sending.cancel()
            return Outcome(int(found[1]) if found else None, received, is_in_time=True)
    except TimeoutError:
        return Outcome(None, received, is_in_time=False)
    finally:
        writer.transport.abort()


async def _send(writer: asyncio.StreamWriter, hostile: Hostile) -> None:
    try:
        for piece in hostile.pieces:
            writer.write(piece)
            await writer.drain()
            if hostile.pause_s:
                await asyncio.sleep(hostile.pause_s)
        if hostile.ends:
            writer.write_eof()
    except (ConnectionError, RuntimeError):
        return  # it was answered, or ended, before all was sent


async def _piece(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(65536)
    except ConnectionError:
        return b""


def _final_head(received: bytes) -> re.Match[bytes] | None:
    return re.match(
        rb"(?:HTTP/1\.1 100 Continue\r\n\r\n)*HTTP/1\.1 ([2-9]\d\d) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n", received
    )


async def outcomes_of(port: int, batch: tuple[Hostile, ...], *, prefix: str) -> list[Outcome]:
    """Many at once; behind each, an ordinary request on a connection of its own is answered."""
    ordinary = Hostile((f"GET {prefix}/health HTTP/1.1\r\nhost: lab\r\n\r\n".encode(),), 0, ends=False)
    places = asyncio.Semaphore(TOGETHER)

    async def one(hostile: Hostile) -> Outcome:
        async with places:
            outcome = await outcome_of(port, hostile)
            after = await outcome_of(port, ordinary)
        assert after.status == 200, shown(hostile, after)
        return outcome

    return await asyncio.gather(*(one(hostile) for hostile in batch))


def is_planned(hostile: Hostile, outcome: Outcome) -> bool:
    """The suite's only 5xx, whose body an answer to HEAD does not have."""
    return outcome.status == 503 and b"/down" in b"".join(hostile.pieces)


def trouble_of(hostile: Hostile, outcome: Outcome, *, prefix: str) -> str | None:
    """What must not have happened."""
    if not outcome.is_in_time:
        return "kept waiting: " + shown(hostile, outcome)
    if outcome.status is None and not hostile.ends:
        return "closed without an answer: " + shown(hostile, outcome)
    if (outcome.status or 0) >= 500 and not is_planned(hostile, outcome):
        return "not planned: " + shown(hostile, outcome)
    by_header = any(b"x-eval-case: one" in piece for piece in hostile.pieces)  # then it is no secret of that world
    if prefix[2:].encode() in outcome.received and not by_header:
        return "tells the prefix: " + shown(hostile, outcome)
    return None


def shown(hostile: Hostile, outcome: Outcome) -> str:
    content = b"".join(hostile.pieces)
    how = f"{len(hostile.pieces)} pieces, {len(content)} bytes, ends={hostile.ends}"
    return f"{how}\n  {content[:_SHOWN]!r}…{content[_SHOWN:][-_SHOWN:]!r}\n  -> {outcome.received[:_SHOWN]!r}"


def test_10_000_odd_requests_are_all_answered_or_ended_in_time_and_the_next_one_is_served(served: Served) -> None:
    api, memory_kb = served.api, 0
    statuses: Counter[int | None] = Counter()
    for number in range(1, COUNT // PER_ATTEMPT + 1):  # an attempt each, so that none grows long
        prefix = api.open("one", number, model="scripted/support", prompt="polite")
        batch = tuple(hostile_requests(PER_ATTEMPT, seed=SEED * COUNT + number, prefix=prefix))
        outcomes = asyncio.run(outcomes_of(api.data_port, batch, prefix=prefix))
        closed = api.close("one", number)
        assert closed["suiteError"] is None
        found = [trouble for pair in zip(batch, outcomes, strict=True) if (trouble := trouble_of(*pair, prefix=prefix))]
        assert not found, "\n".join(found)
        statuses.update(outcome.status for outcome in outcomes)
        memory_kb = memory_kb or served.memory_kb()
    assert statuses.total() == COUNT
    assert {200, 201, 204, 400, 404, 408, 409, 431, 503} <= set(statuses), "the requests were odd in too few ways"
    assert api.client().ask("GET", "/health").status == 200
    assert served.memory_kb() - memory_kb < GROWTH_KB
    assert served.said() == b""
