"""The bound of request line, headers and trailers is one of bytes: never of pieces, nor of what came before."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.raw_wire import Wire, chunked, request

LIMIT = 64 * 1024
ORDER = "/orders/a-1"
JSON_TYPE = "content-type: application/json"
_NUMBERS = itertools.count(1)

CUTS: list[Callable[[bytes], list[bytes]]] = [
    lambda all_of: [all_of],
    lambda all_of: [all_of[:-1], all_of[-1:]],
    lambda all_of: [all_of[:-3], all_of[-3:]],
    lambda all_of: [all_of[:60_000], all_of[60_000:]],
    lambda all_of: [all_of[at : at + 1000] for at in range(0, len(all_of), 1000)],
]
CUT_NAMES = ["whole", "but one", "in its empty line", "60000", "thousands"]


@pytest.fixture(scope="module")
def api(suite: Path) -> Iterator[FixtureProcess]:
    with FixtureProcess(suite) as process:
        yield process


@pytest.fixture
def prefix(api: FixtureProcess) -> Iterator[str]:
    attempt = next(_NUMBERS)
    yield api.open("one", attempt)
    api.close("one", attempt)


def of_size(size: int, prefix: str, *, in_path: bool = False) -> bytes:
    """A head of so many bytes."""
    if in_path:
        short = request("GET", prefix + ORDER + "?q=")
        return request("GET", prefix + ORDER + "?q=" + "a" * (size - len(short)))
    short = request("GET", prefix + ORDER, "x: ")
    return request("GET", prefix + ORDER, "x: " + "v" * (size - len(short)))


def befores(prefix: str) -> list[list[bytes]]:
    plain = request("GET", prefix + ORDER)
    body = request("PATCH", prefix + "/echo", JSON_TYPE, body=b'{"a":1}')
    in_chunks = request("PATCH", prefix + "/echo", JSON_TYPE, "transfer-encoding: chunked") + chunked(b'{"a"\n', b":1}")
    return [[], [plain], [body], [in_chunks]]


@pytest.mark.parametrize("cut", CUTS, ids=CUT_NAMES)
@pytest.mark.parametrize("in_path", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_the_last_byte_that_is_taken_is_the_same_however_a_request_comes(
    api: FixtureProcess, prefix: str, cut: Callable[[bytes], list[bytes]], in_path: bool, together: bool
) -> None:
    for before in befores(prefix):
        for size, status in ((LIMIT, 200), (LIMIT + 1, 431), (LIMIT + 40_000, 431)):
            head = of_size(size, prefix, in_path=in_path)
            assert len(head) == size
            with Wire(api.data_port) as wire:
                if together:
                    for piece in cut(b"".join(before) + head):
                        wire.send(piece)
                else:
                    for piece in [*before, *cut(head)]:
                        wire.send(piece)
                for _ in before:
                    assert int(wire.answer()[9:12]) == 200
                assert int(wire.answer()[9:12]) == status, (size, before)
                if status != 200:
                    assert wire.rest() == b""


@pytest.mark.parametrize("cut", CUTS, ids=CUT_NAMES)
@pytest.mark.parametrize(("size", "status"), [(60_000, 200), (70_000, 431), (200_000, 431)])
def test_trailers_have_the_same_bound_however_they_come(
    api: FixtureProcess, prefix: str, cut: Callable[[bytes], list[bytes]], size: int, status: int
) -> None:
    head = request("PATCH", prefix + "/echo", JSON_TYPE, "transfer-encoding: chunked")
    for trailers in (b"a: " + b"b" * size, b"\r\n".join([b"a: b"] * (size // 6))):
        sent = head + chunked(b'{"a":', b"1}")[:-2] + trailers + b"\r\n\r\n"
        with Wire(api.data_port) as wire:
            for piece in cut(sent):
                wire.send(piece)
            assert int(wire.answer()[9:12]) == status


def test_a_body_of_many_lines_is_no_trailer(api: FixtureProcess, prefix: str) -> None:
    lines = b"[" + b"\n" * 200_000 + b"1]"
    for body in (chunked(lines), chunked(lines[:100_001], lines[100_001:])):
        with Wire(api.data_port) as wire:
            head = request("PATCH", prefix + "/echo", JSON_TYPE, "transfer-encoding: chunked")
            assert int(wire.ask(head + body)[9:12]) == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/0.9\r\nhost: lab\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: lab\r\nhost: lab\r\n\r\n",
        b"GET /health HTTP/2.0\r\nhost: lab\r\n\r\n",
    ],
)
def test_another_version_and_a_request_without_one_host_are_400(api: FixtureProcess, sent: bytes) -> None:
    with Wire(api.data_port) as wire:
        wire.send(request("GET", "/health") + sent)
        assert [int(wire.answer()[9:12]) for _ in range(2)] == [200, 400]
        assert wire.rest() == b""


def test_http_1_0_needs_no_host(api: FixtureProcess) -> None:
    with Wire(api.data_port) as wire:
        assert int(wire.ask(b"GET /health HTTP/1.0\r\n\r\n")[9:12]) == 200


def test_who_asks_before_sending_too_long_a_body_is_told_at_once(api: FixtureProcess, prefix: str) -> None:
    with Wire(api.data_port) as wire:
        wire.send(request("PATCH", prefix + "/echo", "expect: 100-continue", f"content-length: {8 * 1024 * 1024 + 1}"))
        answer = wire.answer()
        assert int(answer[9:12]) == 413
        assert b"\r\nconnection: close\r\n" in answer
        assert wire.rest() == b""
    with Wire(api.data_port) as wire:
        wire.send(request("PATCH", prefix + "/echo", JSON_TYPE, "expect: 100-continue", "content-length: 2"))
        assert int(wire.answer(to_head=True)[9:12]) == 100
        wire.send(b"{}")
        assert int(wire.answer()[9:12]) == 200
