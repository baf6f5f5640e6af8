"""The client of agent_host over pipes: sorting by id, death of the host, and orders as they are written."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from typing import IO, Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.hosting import AgentOut, AgentStarted, HostStart
from contracts.order import HostOverStdio, HostOverTcp
from runner.hosting import AgentHost, HostGone, reach_host

HELLO = {"op": "hello", "version": 1}


class HostEnd:
    """The host's end of two pipes."""

    def __init__(self) -> None:
        orders_out, orders_in = os.pipe()
        lines_out, lines_in = os.pipe()
        self.orders: IO[bytes] = os.fdopen(orders_out, "rb")
        self.lines: IO[bytes] = os.fdopen(lines_in, "wb")
        self.client = AgentHost(os.fdopen(lines_out, "rb"), os.fdopen(orders_in, "wb"), process=None)

    def say(self, message: dict[str, Any] | bytes) -> None:
        self.lines.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.lines.flush()


@pytest.fixture
def host() -> Iterator[HostEnd]:
    end = HostEnd()
    yield end
    end.lines.close()
    end.client.close()
    end.orders.close()


def start(session_id: str) -> HostStart:
    return HostStart(
        id=session_id, argv=("a",), env={"K": "v"}, stdin="", seconds=None, output_bytes=9, grace_seconds=2.0
    )


def test_hello_is_awaited(host: HostEnd) -> None:
    host.say(HELLO)

    host.client.await_hello(seconds=10)


def test_a_host_that_says_nothing_is_missing() -> None:
    end = HostEnd()
    threading.Timer(0.2, end.lines.close).start()

    with pytest.raises(LabError) as caught:
        end.client.await_hello(seconds=0.05)

    assert caught.value.code is ErrorCode.AGENT_HOST_MISSING
    end.orders.close()


def test_orders_are_lines_with_every_key_of_the_protocol(host: HostEnd) -> None:
    with host.client.session("a#1") as session:
        session.start(start("a#1"))
        session.end()

    assert json.loads(host.orders.readline()) == {
        "op": "start",
        "id": "a#1",
        "argv": ["a"],
        "env": {"K": "v"},
        "stdin": "",
        "seconds": None,
        "outputBytes": 9,
        "graceSeconds": 2.0,
        "cwd": None,
        "leave": False,
    }
    assert json.loads(host.orders.readline()) == {"op": "end", "id": "a#1"}


def test_events_go_to_the_session_of_their_id_and_those_of_nobody_are_dropped(host: HostEnd) -> None:
    with host.client.session("a#1") as one, host.client.session("b#1") as other:
        host.say({"op": "started", "id": "b#1", "pid": 7})
        host.say({"op": "out", "id": "gone#1", "stream": "stdout", "text": "x"})
        host.say({"op": "out", "id": "a#1", "stream": "stderr", "text": "y"})

        assert isinstance(other.next(seconds=10), AgentStarted)
        assert one.next(seconds=10) == AgentOut(op="out", id="a#1", stream="stderr", text="y")
        assert other.next(seconds=0) is None


def test_a_host_that_dies_ends_every_session_and_those_that_come_later(host: HostEnd) -> None:
    with host.client.session("a#1") as session:
        host.lines.close()
        assert session.next(seconds=10) == HostGone(reason="agent_host ended")
    with host.client.session("b#1") as session:
        assert session.next(seconds=10) == HostGone(reason="agent_host ended")


def test_a_line_that_is_not_the_protocol_is_the_hosts_death(host: HostEnd) -> None:
    with host.client.session("a#1") as session:
        host.say(b'{"op": "sing"}\n')

        gone = session.next(seconds=10)

    assert isinstance(gone, HostGone)
    assert "not the protocol" in gone.reason


def test_an_order_to_a_dead_host_ends_the_session(host: HostEnd) -> None:
    host.orders.close()
    with host.client.session("a#1") as session:
        session.start(start("a#1"))

        assert isinstance(session.next(seconds=10), HostGone)


def test_a_program_that_is_not_there_is_a_missing_host() -> None:
    with pytest.raises(LabError) as caught:
        reach_host(HostOverStdio(argv=("/nowhere/agent_host",)), seconds=5)

    assert caught.value.code is ErrorCode.AGENT_HOST_MISSING


def test_a_program_that_is_no_host_is_a_missing_host() -> None:
    with pytest.raises(LabError) as caught:
        reach_host(HostOverStdio(argv=("/bin/echo", "hi")), seconds=5)

    assert caught.value.code is ErrorCode.AGENT_HOST_MISSING


def test_a_host_that_reads_no_order_holds_nobody_up_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.hosting.WRITE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def says_hello_and_reads_nothing() -> None:
            taken.append(listener.accept()[0])
            taken[0].sendall(json.dumps(HELLO).encode() + b"\n")

        taken: list[socket.socket] = []
        thread = threading.Thread(target=says_hello_and_reads_nothing)
        thread.start()
        client = reach_host(HostOverTcp(host="127.0.0.1", port=port), seconds=30)
        thread.join()

        with client.session("a#1") as session:
            session.start(start("a#1").model_copy(update={"stdin": "x" * (64 << 20)}))
            gone = session.next(seconds=30)

    assert isinstance(gone, HostGone)
    assert gone.reason.startswith("agent_host cannot be reached any more")
    taken[0].close()
    client.close()
