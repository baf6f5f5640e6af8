"""The command adapter: one process per attempt, at agent_host, told everything by environment and standard input."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Protocol

from contracts.attempt import AgentEnd
from contracts.control import AttemptBreach, AttemptKey
from contracts.hosting import AgentEnded, AgentFailed, AgentOut, AgentStarted, HostStart
from contracts.own_address import OwnAddress
from contracts.record import Json
from runner import clock
from runner.agents.event_lines import EventLines
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind
from runner.agents.limits import passed_limit
from runner.hosting import AgentSession, HostGone, Notice
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
        stdin=json.dumps(_task(assignment), ensure_ascii=False) + "\n",
        seconds=assignment.limits.seconds or None,
        output_bytes=assignment.limits.output_bytes,
        grace_seconds=GRACE_S,
    )


def agent_environment(assignment: Assignment, agent_env: Mapping[str, str]) -> dict[str, str]:
    """All variables of an attempt but PATH, HOME and TMPDIR."""
    conditions = assignment.conditions
    return {
        **agent_env,
        "FIXTURE_URL": assignment.fixture_url,
        "MODEL_URL": assignment.model_url,
        "LAB_CASE_ID": assignment.case.id,
        "LAB_ATTEMPT": str(assignment.attempt),
        "LAB_NOW": conditions.clock,
        "EVAL_SEED": str(conditions.seed),
        "TZ": conditions.timezone,
        "LANG": conditions.locale,
    }


def _task(assignment: Assignment) -> dict[str, Json]:
    case = assignment.case
    return {
        "caseId": case.id,
        "title": case.shown_title,
        "attempt": assignment.attempt,
        "messages": [message.to_json() for message in case.messages],
        "tools": [tool.to_json() for tool in assignment.tools],
        "prompt": assignment.prompt,
        "policy": assignment.policy,
        "fixtureUrl": assignment.fixture_url,
        "modelUrl": assignment.model_url,
        "model": assignment.agent.model,
        "temperature": assignment.agent.temperature,
        "seed": assignment.conditions.seed,
        "clock": assignment.conditions.clock,
    }


@dataclass
class _Following:
    """Follows one agent from its start to its end."""

    assignment: Assignment
    session: AgentSession

    def __post_init__(self) -> None:
        self._hide = OwnAddress(self.assignment.fixture_url.rpartition("/~")[2]).hidden_in_text
        self._lines = EventLines(hide=self._hide)
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
            self._lines.log.add(out.text)
            return
        self._lines.feed(out.text)
        self._keep_limits()

    def _keep_limits(self) -> None:
        limits = self.assignment.limits
        if limits.cost_usd is not None and (self._lines.cost_usd or 0.0) > limits.cost_usd:
            self._stop(passed_limit("cost", limits=limits))
        # those of bound tools are counted where they are served
        new_calls = self._lines.calls[self._counted :]
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
        self._lines.finish()
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
        lines = self._lines
        if lines.broken is not None:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"protocol broken, {lines.broken}")
        if lines.errors:
            is_providers = self.assignment.model_is_outside and all(kind == "provider" for kind in lines.errors)
            if is_providers:
                return Ending(kind=EndKind.PROVIDER, reason="it said that its model's provider failed")
            return Ending(kind=EndKind.AGENT_ERROR, reason="it reported an error; its log has the message")
        if ended.signal is not None:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"it was ended by {_signal_name(ended.signal)}")
        if ended.exit_code != 0:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"it exited with {ended.exit_code}")
        return Ending(kind=EndKind.FINISHED)

    def _result(self, ending: Ending, *, ended: AgentEnded | None = None) -> AgentRun:
        self._lines.finish()
        log = self._lines.log.text()
        return AgentRun(
            ending=ending,
            texts=tuple(self._lines.texts),
            events=tuple(self._lines.calls),
            usage=self._lines.usage,
            log=self._hide(log) if log is not None else None,
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
