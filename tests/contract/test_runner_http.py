"""The runner's HTTP over real sockets: deadlines, one piece a request, and when the fixture API counts as dead."""

from __future__ import annotations

import json
import time

import pytest

from contracts.control import AttemptKey, AttemptOpening
from contracts.errors import ErrorCode, LabError
from runner import world as world_module
from runner.http_calls import Server, TimedOutError, UnreachableError
from runner.world import World, WorldLostError, WorldRefusedError
from tests.fakes.socket_server import cut, drip, reply, silence, socket_server

KEY = AttemptKey(case="greets", attempt=1)
OPENING = AttemptOpening(case="greets", attempt=1)
OPENED = reply(b'{"prefix":"/~0"}', status=201)
CLOSED = reply(b'{"state":{"url":"/~secret/x"}}')


def post(server: Server, *, seconds: float = 10.0) -> bytes:
    return server.exchange("POST", "/x", body=b'{"a":1}', headers={"content-type": "x"}, seconds=seconds).body


def test_a_request_is_one_piece_on_the_wire_and_connections_are_kept() -> None:
    with socket_server([reply(b"1"), reply(b"2")]) as there:
        server = Server(there.url, connections=1)

        assert (post(server), post(server)) == (b"1", b"2")

        assert there.connections == 1
        assert [piece.partition(b"\r\n\r\n")[2] for piece in there.pieces] == [b'{"a":1}'] * 2
        server.close()


@pytest.mark.parametrize("deed", [silence, drip(every_s=0.05, part="body"), drip(every_s=0.05, part="head")])
def test_a_deadline_bounds_the_whole_exchange_also_when_bytes_keep_coming(deed: object) -> None:
    with socket_server([deed]) as there:  # type: ignore[list-item]
        server = Server(there.url, connections=1)
        began = time.monotonic()

        with pytest.raises(TimedOutError):
            post(server, seconds=0.4)

        assert 0.3 < time.monotonic() - began < 5
        server.close()


def test_a_deadline_is_that_of_its_own_exchange_only() -> None:
    with socket_server([silence, reply(b"1")]) as there:
        server = Server(there.url, connections=1)
        with pytest.raises(TimedOutError):
            post(server, seconds=0.1)

        assert post(server) == b"1"
        server.close()


def test_a_cut_connection_and_a_closed_port_are_unreachable_and_errors_name_no_path() -> None:
    with socket_server([cut]) as there:
        server = Server(there.url, connections=1)
        with pytest.raises(UnreachableError) as caught:
            server.exchange("GET", "/~secret/x", headers={}, seconds=5)
        assert "secret" not in str(caught.value)
        server.close()
    server = Server(there.url, connections=1)
    with pytest.raises(UnreachableError, match=r"^\[Errno 111\] Connection refused$"):
        server.exchange("GET", "/~secret/x", headers={}, seconds=5)
    server.close()


def test_a_redirect_is_an_answer() -> None:
    with socket_server([reply(status=302, headers="location: http://127.0.0.1:9/\r\n")]) as there:
        server = Server(there.url, connections=1)

        assert server.exchange("GET", "/x", headers={}, seconds=5).status == 302
        server.close()


def test_opening_and_closing_hide_the_secret() -> None:
    with socket_server([OPENED, CLOSED]) as there:
        world = World(there.url, connections=1)

        assert world.open(OPENING).prefix == "/~0"
        assert world.close(KEY, hide="secret").state == {"url": "/~<prefix>/x"}

        assert json.loads(there.pieces[0].partition(b"\r\n\r\n")[2])["case"] == "greets"
        world.disconnect()


def test_one_cut_connection_of_a_living_fixture_api_loses_nothing() -> None:
    with socket_server([cut, OPENED]) as there:
        world = World(there.url, connections=1)

        assert world.open(OPENING).prefix == "/~0"
        assert world.lost is None
        world.disconnect()


def test_two_cut_connections_are_a_loss_and_every_later_call_fails_at_once() -> None:
    with socket_server([cut, cut, OPENED]) as there:
        world = World(there.url, connections=1)

        with pytest.raises(WorldLostError):
            world.open(OPENING)
        with pytest.raises(WorldLostError):
            world.open(OPENING)

        assert str(world.lost).startswith("the fixture API does not answer any more: ")
        assert len(there.pieces) == 2
        world.disconnect()


def test_a_late_answer_of_a_living_fixture_api_is_refused_and_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_module, "CALL_S", 0.2)
    with socket_server([silence]) as there:
        world = World(there.url, connections=1)

        with pytest.raises(WorldRefusedError, match="healthy"):
            world.open(OPENING)

        assert world.lost is None
        world.disconnect()


@pytest.mark.parametrize("deed", [reply(b"what", status=409), reply(b"what"), reply(b'{"other":1}')])
def test_an_answer_that_is_not_the_record_is_refused_and_no_loss(deed: object) -> None:
    with socket_server([deed]) as there:  # type: ignore[list-item]
        world = World(there.url, connections=1)

        with pytest.raises(WorldRefusedError):
            world.open(OPENING)

        assert world.lost is None
        world.disconnect()


def test_a_breach_is_asked_for_again_after_a_round_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_module, "POLL_S", 0.2)
    with socket_server([silence, reply(b'{"limit":"tool_calls"}')]) as there:
        world = World(there.url, connections=1)

        assert world.breach(KEY).limit == "tool_calls"
        world.disconnect()


def test_an_attempt_that_was_closed_first_has_no_breach() -> None:
    with socket_server([reply(b"{}", status=404)]) as there:
        world = World(there.url, connections=1)

        assert world.breach(KEY).limit is None
        world.disconnect()


def test_health_is_awaited_and_given_up_with_the_cause() -> None:
    with socket_server([]) as there:
        world = World(there.url, connections=1)
        world.await_health(seconds=5)
        world.disconnect()

    with pytest.raises(LabError) as caught:
        World(there.url, connections=1).await_health(seconds=0.2)

    assert caught.value.code is ErrorCode.STACK_UNHEALTHY
    assert "refused" in str(caught.value.cause)
