"""An agent_host without processes: each start is answered with events given before; it keeps its orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from contracts.control import AttemptBreach, AttemptKey
from contracts.hosting import AgentEnded, AgentOut, HostEnd, HostStart
from runner.hosting import AgentSession, Event
from runner.world import Notify, WorldLostError

SESSION = "greets#1"


def out(text: str, *, stream: str = "stdout") -> AgentOut:
    """A piece of output."""
    return AgentOut.model_validate({"op": "out", "id": SESSION, "stream": stream, "text": text})


def ended(reason: str = "exit", *, exit_code: int | None = 0, signal: int | None = None) -> AgentEnded:
    """The end of the process."""
    return AgentEnded.model_validate(
        {
            "op": "ended",
            "id": SESSION,
            "exitCode": exit_code,
            "signal": signal,
            "reason": reason,
            "strays": 0,
            "outputBytes": 0,
            "durationMs": 1,
        }
    )


@dataclass
class ScriptedHost:
    """Implements `runner.agents.following.Hosting`; `on_end` are the events that follow the order to end."""

    events: Sequence[Event]
    on_end: Sequence[Event] = ()
    orders: list[HostStart | HostEnd] = field(default_factory=list)

    @contextmanager
    def session(self, session_id: str) -> Iterator[AgentSession]:
        session = AgentSession(session_id, send=lambda order: self._obey(session, order))
        yield session

    def _obey(self, session: AgentSession, order: HostStart | HostEnd) -> None:
        self.orders.append(order)
        for event in self.events if isinstance(order, HostStart) else self.on_end:
            session.put(event)


@dataclass
class ScriptedWatch:
    """Implements `runner.world.BreachWatch`: says at once what the fixture API would say at some time."""

    breach: AttemptBreach | WorldLostError | None = None
    keys: list[AttemptKey] = field(default_factory=list)

    def watch(self, key: AttemptKey, notify: Notify) -> None:
        self.keys.append(key)
        if self.breach is not None:
            notify(self.breach)
