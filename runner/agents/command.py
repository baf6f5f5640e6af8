"""The command adapter: one process per attempt, at agent_host, told everything by environment and standard input."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
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
from runner.agents.task import attempt_env, task_of
from runner.hosting import AgentSession, HostGone, Notice
from runner.world import Notify

GRACE_S = 2.0
"""Between SIGTERM and SIGKILL."""
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


class CommandAgent:
    """Runs any program."""

    def __init__(
        self, host: Hosting, *, watch: BreachWatch, argv: tuple[str, ...], agent_env: Mapping[str, str]
    ) -> None:
        self._host = host
        self._watch = watch
        self._argv = argv
        self._agent_env = agent_env

    def run(self, assignment: Assignment) -> AgentRun:
        """Start the program, follow its output, and end it when it passes a limit."""
        key = AttemptKey(case=assignment.case.id, attempt=assignment.attempt)
        with self._host.session(f"{key.case}#{key.attempt}") as session:
            session.start(start_order(assignment, session_id=session.id, argv=self._argv, agent_env=self._agent_env))
            self._watch.watch(key, lambda breach: session.put(Notice(about=breach)))
            return _Following(assignment=assignment, session=session).run()


def start_order(
    assignment: Assignment, *, session_id: str, argv: tuple[str, ...], agent_env: Mapping[str, str]
) -> HostStart:
    """What the host is told; the lab's own variables win over those of `-e`."""
    return HostStart(
        id=session_id,
        argv=argv,
        env=agent_environment(assignment, agent_env),
        stdin=json.dumps(task_of(assignment), ensure_ascii=False) + "\n",
        seconds=assignment.limits.seconds or None,
        output_bytes=assignment.limits.output_bytes,
        grace_seconds=GRACE_S,
    )


def agent_environment(assignment: Assignment, agent_env: Mapping[str, str]) -> dict[str, str]:
    """All variables of an attempt but PATH, HOME and TMPDIR."""
    return {**agent_env, **attempt_env(assignment)}


@dataclass
class _Following:
    """Follows one agent from its start to its end."""

    assignment: Assignment
    session: AgentSession

    def __post_init__(self) -> None:
        self._claims = Claims(self.assignment)
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
            self._claims.lines.log.add(out.text)
            return
        self._claims.lines.feed(out.text)
        self._stop(self._claims.passed())

    def _stop(self, ending: Ending | None) -> None:
        if ending is not None and self._stopped is None:
            self._stopped = ending
            self.session.end()

    def _ending(self, ended: AgentEnded) -> Ending:
        self._claims.lines.finish()
        self._stop(self._claims.passed())
        limits = self.assignment.limits
        if self._stopped is not None:
            return self._stopped
        if ended.reason in {"seconds", "output"}:
            return passed_limit(ended.reason, limits=limits)
        if ended.reason == "supervisor-lost":
            return lost("the agent's supervisor was lost")
        return self._own_end(ended)

    def _own_end(self, ended: AgentEnded) -> Ending:
        told = self._claims.told()
        if told is not None:
            return told
        if ended.signal is None and ended.exit_code == 0:
            return Ending(kind=EndKind.FINISHED)
        return agent_error(how_it_ended(ended))

    def _result(self, ending: Ending, *, ended: AgentEnded | None = None) -> AgentRun:
        lines = self._claims.lines
        lines.finish()
        return AgentRun(
            ending=ending,
            texts=tuple(lines.texts),
            events=tuple(lines.calls),
            usage=lines.usage,
            log=self._claims.log(),
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
