"""The control port: opening, closing, breaches, and that it is out of an agent's reach."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.fixture_process import TIMEOUT_S, DataClient, FixtureProcess
from tests.fakes.small_world import TALK


def test_the_control_port_refuses_what_it_does_not_know(api: FixtureProcess) -> None:
    assert api.control("/attempts", {"case": "three", "attempt": 1}).status == 404
    assert api.control("/attempts", {"case": "one", "attempt": 1, "model": "scripted/none"}).status == 404
    assert api.control("/attempts", {"case": "one"}).status == 422
    assert api.control("/attempts", {"case": "one", "attempt": "1"}).status == 422
    assert api.control("/attempts/close", {"case": "one", "attempt": 99}).status == 404
    assert api.control("/attempts/breach", {"case": "one", "attempt": 99}).status == 404
    assert api.control("/attempts/none", {}).status == 404
    api.open("one", 109)
    assert api.control("/attempts", {"case": "one", "attempt": 109}).status == 409
    api.close("one", 109)


def test_the_control_port_is_not_on_the_data_port(client: DataClient, api: FixtureProcess) -> None:
    for path in ("/attempts", "/attempts/close", "/openapi.json", "/docs"):
        assert client.ask("POST", path, {"case": "one", "attempt": 110}).status == 409
        prefix = api.open("one", 110)
        assert client.ask("POST", prefix + path, {"case": "one", "attempt": 111}).status == 404
        api.close("one", 110)
    assert api.control("/quick").status == 404
    assert api.control("/openapi.json").status == 404


def test_closing_hands_out_rows_arguments_texts_and_state(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 112, model="scripted/support", prompt="polite")
    client.ask("POST", f"{prefix}/refunds?x=1", {"amount": 7})
    client.ask("POST", f"{prefix}/v1/chat/completions", TALK, authorization="Bearer secret")
    client.ask("GET", f"{prefix}/order/a-1")
    closed = api.close("one", 112)
    refund, model, unmatched = closed["served"]
    assert refund["row"]["tool"] == "refund"
    assert refund["arguments"] == {"amount": 7}
    assert refund["responseText"] == '{"n":1}'
    assert (model["row"]["via"], model["row"]["route"]) == ("model", "model:support#0")
    assert unmatched["unmatched"]["nearestRoute"] == "order"
    assert closed["state"]["orders"]["a-1"] == {"amount": 5, "note": None}
    assert (closed["suiteError"], closed["modelError"], closed["breached"]) == (None, None, None)
    assert prefix[2:] not in json.dumps(closed)


def test_a_breach_is_told_when_it_happens_and_to_everyone_who_waits(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 113, toolCallLimit=1)
    key = {"case": "one", "attempt": 113}
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(api.control, "/attempts/breach", key) for _ in range(2)]
        assert client.ask("POST", f"{prefix}/refunds", {"amount": 1}).status == 201
        assert not any(wait.done() for wait in waiting)
        assert client.ask("POST", f"{prefix}/refunds", {"amount": 1}).status == 429
        assert [wait.result(TIMEOUT_S).json() for wait in waiting] == [{"limit": "tool_calls"}] * 2
    assert api.control("/attempts/breach", key).json() == {"limit": "tool_calls"}
    assert api.close("one", 113)["breached"] == "tool_calls"


def test_a_request_in_flight_at_the_closing_is_answered_and_not_recorded(api: FixtureProcess) -> None:
    prefix = api.open("one", 116)
    head = f"POST {prefix}/refunds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n"
    with socket.create_connection(("127.0.0.1", api.data_port), timeout=TIMEOUT_S) as connection:
        connection.sendall(head.encode() + b'{"amou')
        closed = api.close("one", 116)
        connection.sendall(b'nt":1}')
        assert connection.recv(65536).startswith(b"HTTP/1.1 404 ")
    assert closed["served"] == []


@pytest.mark.parametrize("asks", ["", "connection: close\r\n"])
@pytest.mark.parametrize("path", ["/quick", "/health", "/order/a-1"])
def test_behind_the_fault_proxy_the_client_is_asked_to_close_and_the_server_waits_for_it(
    api: FixtureProcess, asks: str, path: str
) -> None:
    prefix = api.open("one", 117, faults=True, proxied=True)
    request = f"GET {prefix}{path} HTTP/1.1\r\nhost: x\r\n{asks}\r\n".encode()
    with socket.create_connection(("127.0.0.1", api.data_port), timeout=TIMEOUT_S) as connection:
        for _ in range(1 if asks else 2):  # one that does not listen is answered all the same
            connection.sendall(request)
            assert b"\r\nconnection: close\r\n" in connection.recv(65536)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    api.close("one", 117)


def test_elsewhere_connections_are_kept_and_closed_where_the_client_asks_for_it(api: FixtureProcess) -> None:
    prefix = api.open("one", 118, faults=True)
    with socket.create_connection(("127.0.0.1", api.data_port), timeout=TIMEOUT_S) as connection:
        connection.sendall(f"GET {prefix}/quick HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert b"connection:" not in connection.recv(65536)
        connection.sendall(f"GET {prefix}/quick HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        assert b"\r\nconnection: close\r\n" in connection.recv(65536)
        assert connection.recv(1) == b""
    api.close("one", 118)
