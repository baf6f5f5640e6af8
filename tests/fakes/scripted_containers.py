"""A driver that answers requests for containers as a test says, and hosts that need no connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from contracts.containers import (
    ContainerAnswer,
    ContainerFailed,
    ContainerOver,
    ContainerRequest,
    ContainerStarted,
    ContainerWanted,
    RootSetupEnded,
    RootSetupWanted,
)
from contracts.hosting import HostEnd, HostHello, HostStart, host_messages
from contracts.order import HostOverTcp
from runner import containers as module
from runner.containers import Containers
from runner.hosting import AgentSession, Event


@dataclass
class PlacedHost:
    """A host in a container: each order is placed, kept, and answered with the next events of the script."""

    where: HostOverTcp
    token: str
    place: Callable[[HostStart], HostStart]
    script: list[Sequence[dict[str, Any]]]
    orders: list[HostStart | HostEnd] = field(default_factory=list)
    is_closed: bool = False

    @contextmanager
    def session(self, session_id: str) -> Iterator[AgentSession]:
        session = AgentSession(session_id, send=lambda order: self._obey(session, order))
        yield session

    def _obey(self, session: AgentSession, order: HostStart | HostEnd) -> None:
        self.orders.append(self.place(order) if isinstance(order, HostStart) else order)
        for event in self.script.pop(0) if isinstance(order, HostStart) else ():
            session.put(_event(session.id, event))

    def close(self) -> None:
        self.is_closed = True


def _event(session_id: str, fields: dict[str, Any]) -> Event:
    end = {"strays": 0, "outputBytes": 0, "durationMs": 1, "reason": "exit"} if fields["op"] == "ended" else {}
    message = host_messages.validate_python({**end, **fields, "id": session_id})
    assert not isinstance(message, HostHello)
    return message


@dataclass
class ScriptedDriver:
    """`requests` are what the runner asked for; every container starts unless `fails` says why not."""

    fails: str | None = None
    setup: tuple[int | None, str] = (0, "")
    answers_at_once: bool = True
    script: list[Sequence[dict[str, Any]]] = field(default_factory=list)
    requests: list[ContainerRequest] = field(default_factory=list)
    hosts: list[PlacedHost] = field(default_factory=list)
    containers: Containers = field(init=False)

    def __post_init__(self) -> None:
        self.containers = Containers(tell=self._take, port=7070, seconds=5.0)

    def _take(self, request: ContainerRequest) -> None:
        self.requests.append(request)
        if self.answers_at_once:
            self.answer(request)

    def answer(self, request: ContainerRequest) -> None:
        answer: ContainerAnswer
        match request:
            case ContainerWanted(alias=alias) if self.fails is not None:
                answer = ContainerFailed(alias=alias, reason=self.fails)
            case ContainerWanted(alias=alias):
                answer = ContainerStarted(alias=alias)
            case RootSetupWanted(alias=alias):
                answer = RootSetupEnded(alias=alias, exit_code=self.setup[0], output=self.setup[1])
            case ContainerOver():
                return
        self.containers.hear(answer.to_line().encode())

    def reach(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have the runner reach hosts of this script instead of addresses."""

        def reach_host(where: HostOverTcp, *, seconds: float, token: str, place: Any) -> PlacedHost:
            self.hosts.append(PlacedHost(where, token, place, self.script))
            return self.hosts[-1]

        monkeypatch.setattr(module, "reach_host", reach_host)

    def kinds(self) -> list[str]:
        """The types of the requests, in order."""
        return [request.type for request in self.requests]
