"""The fixture API over real HTTP: exact bytes, its pages, delays, and what a request may be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.fixture_process import DataClient, FixtureProcess
from tests.fakes.small_world import raw


def test_an_answer_is_these_bytes_and_no_others(api: FixtureProcess) -> None:
    prefix = api.open("one", 101)
    request = f"GET {prefix}/quick HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    expected = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nx-own: 1\r\ncontent-length: 5\r\n\r\nquick"
    )
    assert raw(api.data_port, request, until=b"quick") == expected
    deleting = f"DELETE {prefix}/quick HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    assert raw(api.data_port, deleting, until=b"\r\n\r\n") == b"HTTP/1.1 204 No Content\r\n\r\n"
    api.close("one", 101)


def test_pipelined_requests_are_answered_in_order_on_one_connection(api: FixtureProcess) -> None:
    prefix = api.open("one", 102)
    one, two = (f"GET {prefix}/{path} HTTP/1.1\r\nhost: x\r\n\r\n".encode() for path in ("slow", "quick"))
    received = raw(api.data_port, one + two, until=b"quick")
    assert received.index(b"\r\n\r\nslow") < received.index(b"\r\n\r\nquick")
    rows = [served["row"]["route"] for served in api.close("one", 102)["served"]]
    assert rows == ["slow", "quick"]


def test_head_has_the_headers_of_get_and_no_body(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 103)
    head, get = client.ask("HEAD", f"{prefix}/quick"), client.ask("GET", f"{prefix}/quick")
    assert (head.status, head.headers, head.body) == (200, get.headers, b"")
    api.close("one", 103)


def test_a_delayed_answer_blocks_nobody_and_its_row_says_how_long(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 115)
    with ThreadPoolExecutor(1) as pool:
        other = api.client()
        slow = pool.submit(other.ask, "GET", f"{prefix}/slow")
        while not slow.done():
            assert client.ask("GET", f"{prefix}/quick").body == b"quick"
        assert slow.result().body == b"slow"
        other.close()
    rows = [served["row"] for served in api.close("one", 115)["served"]]
    assert {(row["route"], row["delayMs"]) for row in rows} == {("slow", 400), ("quick", 0)}
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["route"] == "quick"


def test_a_body_over_8_mib_is_refused_and_the_connection_goes_on(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 117)
    big = client.ask("POST", f"{prefix}/refunds", "x" * (8 * 1024 * 1024))
    assert big.status == 413
    assert client.ask("GET", f"{prefix}/quick").status == 200
    fits = client.ask("POST", f"{prefix}/refunds", {"amount": "x" * (8 * 1024 * 1024 - 100)})
    assert fits.status == 201
    rows = api.close("one", 117)["served"]
    assert [served["row"]["route"] for served in rows] == ["quick", "refund"]


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /quick HTTP/1.1\r\nhost: x\r\n" + b"x-a: b\r\n" * 40_000 + b"\r\n",
        b"GET /quick HTTP/1.1\r\nhost: x\r\nx-a: " + b"b" * 200_000,
    ],
)
def test_headers_without_end_are_refused_and_the_connection_closed(api: FixtureProcess, head: bytes) -> None:
    assert raw(api.data_port, head).startswith(b"HTTP/1.1 431 ")


def test_large_headers_within_the_bound_are_read(api: FixtureProcess, client: DataClient) -> None:
    assert client.ask("GET", "/quick", x_eval_case="one", x_large="b" * 60_000).status == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../etc/passwd",
        "/orders/..%2F..%2Fetc",
        "/%00",
        "/%ff%fe",
        "/orders/%",
        "//orders//a-1",
        "/orders/a-1?%ff=%00&&=&a=b=c",
        "/orders/a-1;x=y",
        "/" + "a/" * 2000,
    ],
)
def test_odd_targets_are_unmatched_or_served_but_never_break_anything(client: DataClient, target: str) -> None:
    reply = client.ask("GET", target, x_eval_case="one")
    assert reply.status in (200, 404, 500)
    if reply.status == 500:
        assert reply.json()["title"] == "The suite cannot answer"
    assert client.ask("GET", "/quick", x_eval_case="one").status == 200


def test_a_websocket_upgrade_is_answered_as_a_plain_request(client: DataClient) -> None:
    reply = client.ask("GET", "/quick", x_eval_case="one", connection="upgrade", upgrade="websocket")
    assert reply.body == b"quick"
