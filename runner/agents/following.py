"""Follows one agent process from its start to its end: its output, its limits, and what its end means."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Protocol

from contracts.attempt import AgentEnd
from contracts.control import AttemptKey
from contracts.hosting import AgentEnded, AgentFailed, AgentOut, AgentStarted, HostStart
from runner import clock
from runner.agents.claims import Claims, agent_error, heard, lost
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind
from runner.agents.limits import passed_limit
from runner.agents.output_reader import OutputReader
from runner.hosting import AgentSession, HostGone, Notice
from runner.world import BreachWatch

GRACE_S = 2.0
"""Between SIGTERM and SIGKILL."""
HOST_SLACK_S = 30.0
"""How much later than it must the host may say that an agent ended, before it counts as stuck."""


class Hosting(Protocol):
    """Whoever runs processes (`runner.hosting.AgentHost`)."""

    def session(self, session_id: str) -> AbstractContextManager[AgentSession]:
        """A session for one process."""
        ...


def follow(
    host: Hosting, *, watch: BreachWatch, assignment: Assignment, order: HostStart, reader: OutputReader
) -> AgentRun:
    """Start the process of the order and stay with it to its end; never raises for what an agent does."""
    key = AttemptKey(case=assignment.case.id, attempt=assignment.attempt)
    with host.session(order.id) as session:
        session.start(order)
        watch.watch(key, lambda breach: session.put(Notice(about=breach)))
        return _Following(assignment=assignment, session=session, claims=Claims(assignment, reader)).run()


def session_id(assignment: Assignment) -> str:
    """What the host calls the process of an attempt."""
    return f"{assignment.case.id}#{assignment.attempt}"


@dataclass
class _Following:
    """Follows one agent from its start to its end."""

    assignment: Assignment
    session: AgentSession
    claims: Claims[OutputReader]

    def __post_init__(self) -> None:
        self._stopped: Ending | None = None

    def run(self) -> AgentRun:
        seconds = self.assignment.limits.seconds
        until = clock.elapsed_s() + seconds + GRACE_S + HOST_SLACK_S if seconds else None
        while True:
            event = self.session.next(seconds=None if until is None else max(until - clock.elapsed_s(), 0.0))
            match event:
                case AgentOut() as out:
                    self._take(out)
                case Notice(about=about):
                    self._stop(heard(about, self.assignment))
                case AgentStarted():
                    continue
                case AgentEnded() as ended:
                    return self._result(self._ending(ended), ended=ended)
                case AgentFailed() | HostGone() | None:
                    return self._result(lost(self._why_lost(event)))

    def _why_lost(self, event: AgentFailed | HostGone | None) -> str:
        if isinstance(event, AgentFailed):
            return f"the agent could not be started: {event.message}"
        if isinstance(event, HostGone):
            return event.reason
        self.session.end()
        return "agent_host did not say that the agent ended"

    def _take(self, out: AgentOut) -> None:
        if out.stream == "stderr":
            self.claims.reader.feed_stderr(out.text)
            return
        self.claims.reader.feed(out.text)
        self._stop(self.claims.passed())

    def _stop(self, ending: Ending | None) -> None:
        if ending is not None and self._stopped is None:
            self._stopped = ending
            self.session.end()

    def _ending(self, ended: AgentEnded) -> Ending:
        self.claims.reader.finish()
        self._stop(self.claims.passed())
        limits = self.assignment.limits
        if self._stopped is not None:
            return self._stopped
        if ended.reason in {"seconds", "output"}:
            return passed_limit(ended.reason, limits=limits)
        if ended.reason == "supervisor-lost":
            return lost("the agent's supervisor was lost")
        return self._own_end(ended)

    def _own_end(self, ended: AgentEnded) -> Ending:
        told = self.claims.told(exit_code=ended.exit_code)
        if told is not None:
            return told
        if ended.signal is None and ended.exit_code == 0:
            return Ending(kind=EndKind.FINISHED)
        return agent_error(how_it_ended(ended))

    def _result(self, ending: Ending, *, ended: AgentEnded | None = None) -> AgentRun:
        reader = self.claims.reader
        reader.finish()
        return AgentRun(
            ending=ending,
            texts=tuple(reader.texts),
            events=tuple(reader.calls),
            usage=reader.usage,
            log=self.claims.log(),
            agent_end=_agent_end(ended, ending=ending) if ended is not None else None,
        )


def _agent_end(ended: AgentEnded, *, ending: Ending) -> AgentEnd:
    end = AgentEnd(exit_code=ended.exit_code, signal=ended.signal, reason=ended.reason, strays=ended.strays)
    is_ours = ended.reason == "asked" and ending.limit is not None
    return end.model_copy(update={"reason": ending.limit}) if is_ours else end


def how_it_ended(ended: AgentEnded) -> str:
    """The end of a process, as a reason says it."""
    return f"it exited with {ended.exit_code}" if ended.signal is None else f"it was ended by {_name(ended.signal)}"


def _name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
