"""Connections that are slow, stuck, greedy, many, or unclear about where a request ends."""

from __future__ import annotations

import itertools
import json
import resource
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.hostile_requests import MIB, big_request
from tests.fakes.raw_wire import TIMEOUT_S, ClosedError, Wire, chunked, request

SHORT_S = 0.5
"""The limits of the impatient server of these tests."""
IDLE = 1000
_NUMBERS = itertools.count(1)
JSON_TYPE = "content-type: application/json"


@pytest.fixture(scope="module")
def api(suite: Path) -> Iterator[FixtureProcess]:
    """The server as users have it; nothing that these tests do makes it say anything."""
    with tempfile.TemporaryFile() as log, FixtureProcess(suite, log=log) as process:
        yield process
        log.seek(0)
        assert log.read() == b""


@pytest.fixture(scope="module")
def impatient(suite: Path) -> Iterator[FixtureProcess]:
    with FixtureProcess(suite, FIXTURE_HEADERS_S=str(SHORT_S), FIXTURE_BODY_S=str(SHORT_S)) as process:
        yield process


@pytest.fixture
def prefix(api: FixtureProcess) -> Iterator[str]:
    attempt = next(_NUMBERS)
    yield api.open("one", attempt)
    assert api.close("one", attempt)["suiteError"] is None


def status_of(answer: bytes) -> int:
    return int(answer[9:12])


@pytest.mark.parametrize(
    "framing",
    [
        "content-length: 5\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 5",
        "content-length: 5\r\ncontent-length: 6",
        "content-length: 5\r\ncontent-length: 5",
        "content-length: 5, 6",
        "content-length: +5",
        "content-length: -5",
        "content-length: 0x5",
        "content-length: 5 5",
        "content-length: 99999999999999999999",
        "transfer-encoding: identity",
        "transfer-encoding: chunked, gzip",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding: xchunked",
        "transfer-encoding : chunked",
        "transfer-encoding:\x0bchunked",
        "x: y\r\n transfer-encoding: chunked",
    ],
)
def test_a_request_whose_end_two_readers_could_see_in_two_places_is_refused_and_ends_the_connection(
    api: FixtureProcess, prefix: str, framing: str
) -> None:
    smuggled = request("DELETE", prefix + "/orders/a-1")
    with Wire(api.data_port) as wire:
        wire.send(request("POST", prefix + "/echo", framing) + b"0\r\n\r\n" + smuggled)
        assert status_of(wire.answer()) == 400
        assert wire.rest() == b""
    with Wire(api.data_port) as wire:
        assert status_of(wire.ask(request("GET", prefix + "/orders/a-1"))) == 200


def test_a_body_of_8_mib_is_taken_and_one_byte_more_is_413_however_it_is_framed(
    api: FixtureProcess, prefix: str
) -> None:
    with Wire(api.data_port) as wire:
        for is_chunked in (False, True):
            assert status_of(wire.ask(big_request(prefix, 8 * MIB, is_chunked=is_chunked))) == 200
            assert status_of(wire.ask(big_request(prefix, 8 * MIB + 1, is_chunked=is_chunked))) == 413
        assert status_of(wire.ask(request("GET", prefix + "/orders/a-1"))) == 200


def test_who_closes_after_each_request_reads_the_413_too(api: FixtureProcess, prefix: str) -> None:
    for _ in range(5):  # without care, a reset is quicker than the answer now and then
        with Wire(api.data_port) as wire:
            wire.send(big_request(prefix, 24 * MIB, is_chunked=False, closes=True))
            assert status_of(wire.answer()) == 413
            assert wire.rest() == b""


def test_who_sends_on_after_a_last_request_reads_its_answer_and_none_other(api: FixtureProcess, prefix: str) -> None:
    last = request("GET", prefix + "/orders/a-1", "connection: close")
    with Wire(api.data_port) as wire:
        wire.send(last + request("DELETE", prefix + "/orders/a-1"))
        for _ in range(3):  # closed at once, the connection would be reset by the first, and the next could not be sent
            time.sleep(SHORT_S / 10)
            wire.send(b"x" * 10_000)
        assert status_of(wire.answer()) == 200
        assert wire.rest() == b""
    with Wire(api.data_port) as wire:
        assert status_of(wire.ask(request("GET", prefix + "/orders/a-1"))) == 200


@pytest.mark.parametrize(
    "endless",
    [
        lambda number: b"x-%d: y\r\n" % number * 1000,
        lambda _number: b"x" * 10_000,
    ],
)
def test_headers_without_end_are_431(api: FixtureProcess, prefix: str, endless: Callable[[int], bytes]) -> None:
    assert flooded(api, request("GET", prefix + "/orders")[:-2], endless) == 431


@pytest.mark.parametrize("endless", [lambda number: b"x-%d: y\r\n" % number * 1000, lambda _number: b"x" * 10_000])
@pytest.mark.parametrize("start", [b"0\r\n", b"1;"])
def test_trailers_and_chunk_extensions_without_end_are_431(
    api: FixtureProcess, prefix: str, endless: Callable[[int], bytes], start: bytes
) -> None:
    if start == b"1;":
        endless = lambda _number: b"e" * 10_000  # noqa: E731 - what an extension may have
    head = request("PATCH", prefix + "/echo", "transfer-encoding: chunked", JSON_TYPE)
    assert flooded(api, head + start, endless) == 431


def flooded(api: FixtureProcess, start: bytes, endless: Callable[[int], bytes]) -> int:
    with Wire(api.data_port) as wire:
        wire.send(start)
        for number in range(100):
            try:
                wire.send(endless(number))
            except ConnectionError:
                break
        return status_of(wire.answer())


HALF = {
    "half a request line": b"GET /orde",
    "half the headers": b"GET /orders HTTP/1.1\r\nhost: l",
    "a length without a body": request("POST", "/orders", "content-length: 5", "x-eval-case: one"),
    "half a body": request("POST", "/orders", "content-length: 5", "x-eval-case: one") + b"ab",
    "a chunk without its end": request("POST", "/orders", "transfer-encoding: chunked", "x-eval-case: one")
    + b"5\r\nab",
    "chunks without the last": request("POST", "/orders", "transfer-encoding: chunked", "x-eval-case: one")
    + chunked(b"ab")[:-5],
}


@pytest.mark.parametrize("half", HALF.values(), ids=HALF.keys())
def test_half_a_request_is_408_after_the_limit_and_ends_the_connection(impatient: FixtureProcess, half: bytes) -> None:
    with Wire(impatient.data_port) as wire:
        began = time.monotonic()
        wire.send(half)
        assert status_of(wire.answer()) == 408
        assert time.monotonic() - began > SHORT_S / 2
        assert wire.rest() == b""


@pytest.mark.parametrize("drop", [b"x", b"x: y\r\n"])
def test_a_request_that_comes_drop_by_drop_is_408_after_the_limit(impatient: FixtureProcess, drop: bytes) -> None:
    with Wire(impatient.data_port) as wire:
        until = time.monotonic() + TIMEOUT_S
        wire.send(b"GET /orders HTTP/1.1\r\n")
        while time.monotonic() < until:
            try:
                wire.send(drop)
            except ConnectionError:
                break
            time.sleep(SHORT_S / 10)
        assert status_of(wire.answer()) == 408


def test_half_a_request_that_was_answered_already_only_ends_the_connection(impatient: FixtureProcess) -> None:
    with Wire(impatient.data_port) as wire:
        wire.send(request("POST", "/orders", "content-length: 5"))
        assert status_of(wire.answer()) == 409
        assert wire.rest() == b""


def test_a_connection_between_two_requests_is_not_held_to_the_limits_of_one(impatient: FixtureProcess) -> None:
    opened = impatient.open("one", 1)
    with Wire(impatient.data_port) as used, Wire(impatient.data_port) as unused:
        assert status_of(used.ask(request("GET", opened + "/orders"))) == 200
        used.send(b"\r\n")  # belongs to no request yet
        time.sleep(4 * SHORT_S)
        for wire in (used, unused):
            assert status_of(wire.ask(request("GET", opened + "/orders"))) == 200
    impatient.close("one", 1)


def test_a_refusal_waits_for_the_answers_to_the_requests_before_it(api: FixtureProcess, prefix: str) -> None:
    slow = request("POST", prefix + "/orders/a-1/refunds", JSON_TYPE, body=b'{"kind": "part", "amount": 1}')
    with Wire(api.data_port) as wire:
        wire.send(slow * 3 + b"\x00 no HTTP\r\n\r\n" + slow)
        assert [status_of(wire.answer()) for _ in range(4)] == [202, 202, 202, 400]
        assert wire.rest() == b""
    with Wire(api.data_port) as wire:
        wire.send(slow * 2 + request("PATCH", prefix + "/echo", "transfer-encoding: chunked") + b"zz\r\n")
        assert [status_of(wire.answer()) for _ in range(3)] == [202, 202, 400]
        assert wire.rest() == b""


def test_an_offer_of_another_protocol_is_ignored_and_loses_no_byte(api: FixtureProcess, prefix: str) -> None:
    offers = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQ")
    body = json.dumps({"b": "x" * 300_000}).encode()
    expected = b'{"got":' + json.dumps(json.loads(body), separators=(",", ":")).encode() + b"}"
    by_length = request("PATCH", prefix + "/echo", JSON_TYPE, *offers, body=body)
    framing = (JSON_TYPE, "transfer-encoding: chunked", *offers)
    by_chunks = request("PATCH", prefix + "/echo", *framing, body=chunked(body[:9], body[9:]), length=False)
    plain = request("GET", prefix + "/orders/a-1", *offers)
    with Wire(api.data_port) as wire:
        for sent in (by_length, by_chunks, by_length):
            wire.send(sent + plain)
            assert wire.answer().endswith(expected)
            assert status_of(wire.answer()) == 200
        wire.send(plain * 3000)
        assert {status_of(wire.answer()) for _ in range(3000)} == {200}
        for at in range(0, len(by_chunks), 1000):
            wire.send(by_chunks[at : at + 1000])
        assert wire.answer().endswith(expected)


def test_an_offer_before_a_body_of_unknown_coding_is_400(api: FixtureProcess, prefix: str) -> None:
    offer = request("GET", prefix + "/orders", "transfer-encoding: xchunked", "connection: upgrade", "upgrade: h2c")
    with Wire(api.data_port) as wire:
        wire.send(
            offer.replace(b"HTTP/1.1", b"HTTP/0.9") + b"0\r\n\r\n"
        )  # which the parser lets pass in so old a version
        assert status_of(wire.answer()) == 400
        assert wire.rest() == b""


def test_a_client_of_http_1_0_is_not_told_to_continue(api: FixtureProcess, prefix: str) -> None:
    head = request("PATCH", prefix + "/echo", JSON_TYPE, "expect: 100-continue", "content-length: 2")
    with Wire(api.data_port) as wire:
        wire.send(head.replace(b"HTTP/1.1", b"HTTP/1.0"))
        wire.send(b"{}")
        assert wire.answer().endswith(b'{"got":{}}')
        assert wire.rest() == b""


def test_a_thousand_idle_connections_stop_nobody(suite: Path) -> None:
    """The server raises its own soft limit of open files: the usual 1 024 would be too few for them and 64 attempts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > IDLE + 300, "this machine's hard limit of open files is too low for the test"
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        started = FixtureProcess(suite)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, IDLE + 300), hard))
    with started as api:
        opened = api.open("one")
        idle = [socket.create_connection(("127.0.0.1", api.data_port), TIMEOUT_S) for _ in range(IDLE)]
        idle[0].sendall(b"GET /half")
        with Wire(api.data_port) as wire:
            assert status_of(wire.ask(request("GET", opened + "/orders"))) == 200
        for connection in idle:
            connection.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_client_that_goes_away_is_forgotten(api: FixtureProcess, prefix: str) -> None:
    for content in (b"", b"GET /orders", big_request(prefix, MIB, is_chunked=True)[:-20]):
        with Wire(api.data_port) as wire:
            wire.send(content)
            wire.end_sending()
            assert wire.rest() == b""
        with Wire(api.data_port) as wire:
            assert status_of(wire.ask(request("GET", prefix + "/orders"))) == 200


def test_an_answer_that_nobody_reads_holds_up_nobody_else(api: FixtureProcess, prefix: str) -> None:
    with Wire(api.data_port) as deaf, Wire(api.data_port) as other:
        deaf.send(request("GET", prefix + "/bytes") * 200)
        assert status_of(other.ask(request("GET", prefix + "/orders"))) == 200
        assert [len(deaf.answer()) for _ in range(200)] == [len(other.ask(request("GET", prefix + "/bytes")))] * 200


def test_what_is_no_request_at_all_is_400(api: FixtureProcess) -> None:
    hello = bytes.fromhex("16030100a5010000a10303")
    for content in (
        hello,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\x00",
        b"GET /a\xff HTTP/1.1\r\n\r\n",
    ):
        with Wire(api.data_port) as wire:
            wire.send(content)
            answer = wire.answer()
            assert status_of(answer) == 400
            assert b"application/problem+json" in answer
            with pytest.raises(ClosedError):
                wire.answer()
