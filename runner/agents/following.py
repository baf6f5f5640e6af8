"""Follows one agent process from its start to its end: its output, its limits, and what its end means."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Protocol

from contracts.attempt import AgentEnd, Usage
from contracts.control import AttemptBreach, AttemptKey
from contracts.hosting import AgentEnded, AgentFailed, AgentOut, AgentStarted, HostStart
from contracts.own_address import OwnAddress
from runner import clock
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind, ToolEvent
from runner.agents.limits import passed_limit
from runner.hosting import AgentSession, HostGone, Notice
from runner.texts import BoundedText
from runner.world import Notify, WorldLostError, WorldRefusedError

GRACE_S = 2.0
"""Between SIGTERM and SIGKILL."""
CLAIMS_PER_CALL = 10
"""Claims of bound tools are only shown; an agent that claims this many times what it may do is ended."""
HOST_SLACK_S = 30.0
"""How much later than it must the host may say that an agent ended, before it counts as stuck."""


class BreachWatch(Protocol):
    """Whoever knows when an attempt passes a limit of requests (`runner.world.World`)."""

    def watch(self, key: AttemptKey, notify: Notify) -> None:
        """Call `notify` once, from another thread."""
        ...


class Hosting(Protocol):
    """Whoever runs processes (`runner.hosting.AgentHost`)."""

    def session(self, session_id: str) -> AbstractContextManager[AgentSession]:
        """A session for one process."""
        ...


class OutputReader(Protocol):
    """What understands the output of one kind of agent; each object reads one process."""

    log: BoundedText
    """Everything that is no event."""

    @property
    def texts(self) -> Sequence[str]:
        """The assistant's texts so far."""
        ...

    @property
    def calls(self) -> Sequence[ToolEvent]:
        """The tool calls so far; a later event may say more about one, never take one away."""
        ...

    @property
    def usage(self) -> Usage:
        """What was consumed so far."""
        ...

    def feed(self, text: str) -> None:
        """Take a piece of standard output, of any size."""
        ...

    def feed_stderr(self, text: str) -> None:
        """Take a piece of standard error, of any size."""
        ...

    def finish(self) -> None:
        """There is no more; a second time does nothing."""
        ...

    def failure(self, *, exit_code: int | None, trusts_provider: bool) -> Ending | None:
        """What the output says went wrong, which goes before what the exit status says.

        Args:
            exit_code: the exit status; None after a signal.
            trusts_provider: the agent's word that the provider of its model failed counts: the model is outside, and no
                planned fault was on it.

        """
        ...


def follow(
    host: Hosting, *, watch: BreachWatch, assignment: Assignment, order: HostStart, reader: OutputReader
) -> AgentRun:
    """Start the process of the order and stay with it to its end; never raises for what an agent does."""
    key = AttemptKey(case=assignment.case.id, attempt=assignment.attempt)
    with host.session(order.id) as session:
        session.start(order)
        watch.watch(key, lambda breach: session.put(Notice(about=breach)))
        return _Following(assignment=assignment, session=session, reader=reader).run()


def session_id(assignment: Assignment) -> str:
    """What the host calls the process of an attempt."""
    return f"{assignment.case.id}#{assignment.attempt}"


def lab_env(assignment: Assignment) -> dict[str, str]:
    """The variables that the lab gives to every agent process (CONTRACT §4)."""
    conditions = assignment.conditions
    return {
        "FIXTURE_URL": assignment.fixture_url,
        "MODEL_URL": assignment.model_url,
        "LAB_CASE_ID": assignment.case.id,
        "LAB_ATTEMPT": str(assignment.attempt),
        "LAB_NOW": conditions.clock,
        "EVAL_SEED": str(conditions.seed),
        "TZ": conditions.timezone,
        "LANG": conditions.locale,
    }


def hiding(assignment: Assignment) -> Callable[[str], str]:
    """Takes the secret part of the attempt's address, in any spelling, out of a text."""
    return OwnAddress(assignment.fixture_url.rpartition("/~")[2]).hidden_in_text


@dataclass
class _Following:
    """Follows one agent from its start to its end."""

    assignment: Assignment
    session: AgentSession
    reader: OutputReader

    def __post_init__(self) -> None:
        self._stopped: Ending | None = None
        self._counted = self._unbound = 0

    def run(self) -> AgentRun:
        seconds = self.assignment.limits.seconds
        until = clock.elapsed_s() + seconds + GRACE_S + HOST_SLACK_S if seconds else None
        while True:
            event = self.session.next(seconds=None if until is None else max(until - clock.elapsed_s(), 0.0))
            match event:
                case AgentOut() as out:
                    self._take(out)
                case Notice(about=about):
                    self._hear(about)
                case AgentStarted():
                    continue
                case AgentEnded() as ended:
                    return self._result(self._ending(ended), ended=ended)
                case AgentFailed() | HostGone() | None:
                    return self._result(_lost(self._why_lost(event)))

    def _why_lost(self, event: AgentFailed | HostGone | None) -> str:
        if isinstance(event, AgentFailed):
            return f"the agent could not be started: {event.message}"
        if isinstance(event, HostGone):
            return event.reason
        self.session.end()
        return "agent_host did not say that the agent ended"

    def _take(self, out: AgentOut) -> None:
        if out.stream == "stderr":
            self.reader.feed_stderr(out.text)
            return
        self.reader.feed(out.text)
        self._keep_limits()

    def _keep_limits(self) -> None:
        limits = self.assignment.limits
        if limits.cost_usd is not None and (self.reader.usage.cost_usd or 0.0) > limits.cost_usd:
            self._stop(passed_limit("cost", limits=limits))
        # those of bound tools are counted where they are served
        new_calls = self.reader.calls[self._counted :]
        self._counted += len(new_calls)
        self._unbound += sum(call.tool not in self.assignment.bound_tools for call in new_calls)
        if self._unbound > limits.tool_calls or self._counted > CLAIMS_PER_CALL * (limits.tool_calls + 1):
            self._stop(passed_limit("tool_calls", limits=limits))

    def _hear(self, about: object) -> None:
        match about:
            case AttemptBreach(limit=str(limit)):
                self._stop(passed_limit(limit, limits=self.assignment.limits))
            case WorldLostError() | WorldRefusedError():
                self._stop(_lost(str(about)))

    def _stop(self, ending: Ending) -> None:
        if self._stopped is None:
            self._stopped = ending
            self.session.end()

    def _ending(self, ended: AgentEnded) -> Ending:
        self.reader.finish()
        self._keep_limits()
        limits = self.assignment.limits
        if self._stopped is not None:
            return self._stopped
        if ended.reason in {"seconds", "output"}:
            return passed_limit(ended.reason, limits=limits)
        if ended.reason == "supervisor-lost":
            return _lost("the agent's supervisor was lost")
        return self._own_end(ended)

    def _own_end(self, ended: AgentEnded) -> Ending:
        trusted = self.assignment.model_is_outside and not self.assignment.model_is_faulted
        failure = self.reader.failure(exit_code=ended.exit_code, trusts_provider=trusted)
        if failure is not None:
            return failure
        if ended.signal is not None:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"it was ended by {_signal_name(ended.signal)}")
        if ended.exit_code != 0:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"it exited with {ended.exit_code}")
        return Ending(kind=EndKind.FINISHED)

    def _result(self, ending: Ending, *, ended: AgentEnded | None = None) -> AgentRun:
        self.reader.finish()
        log = self.reader.log.text()
        return AgentRun(
            ending=ending,
            texts=tuple(self.reader.texts),
            events=tuple(self.reader.calls),
            usage=self.reader.usage,
            log=hiding(self.assignment)(log) if log is not None else None,
            agent_end=_agent_end(ended, ending=ending) if ended is not None else None,
        )


def _agent_end(ended: AgentEnded, *, ending: Ending) -> AgentEnd:
    end = AgentEnd(exit_code=ended.exit_code, signal=ended.signal, reason=ended.reason, strays=ended.strays)
    is_ours = ended.reason == "asked" and ending.limit is not None
    return end.model_copy(update={"reason": ending.limit}) if is_ours else end


def _lost(reason: str) -> Ending:
    return Ending(kind=EndKind.INFRASTRUCTURE, reason=reason)


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
