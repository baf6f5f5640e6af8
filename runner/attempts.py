"""The life of one attempt: open it, let the agent act, close it, judge, write it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

from contracts.attempt import AttemptRecord, Check, FaultWitness, TrajectoryCall, Usage
from contracts.control import AttemptClosed, AttemptKey, AttemptOpened, AttemptOpening
from contracts.journal import Via
from contracts.lines import RunnerAttempt
from contracts.model_endpoint import is_scripted
from contracts.plan import Plan, PlannedCase
from contracts.planning import attempt_limits
from contracts.suite.case import Case
from contracts.suite.fault import Toxic
from contracts.suite.suite import Suite
from contracts.telemetry import OBSERVE_PROFILE
from contracts.verdict import Verdict
from runner import clock
from runner.agents.interface import Agent, AgentRun, Assignment, Ending, EndKind
from runner.agents.limits import most_other_requests, passed_limit
from runner.checks.interface import Observed
from runner.faults.counters import Counters, ProxiedAttempt
from runner.faults.trouble import FaultProxyError
from runner.faults.witness import witnesses
from runner.json_values import digest_of_any
from runner.judging import judge
from runner.trace import NO_TRACING, AttemptTrace, Tracing
from runner.trajectory import counted, digest_trajectory, merge_trajectory
from runner.verdict import Happened, decide, not_run
from runner.world import WorldLostError, WorldRefusedError

_SHOWED_NOTHING = frozenset({EndKind.INFRASTRUCTURE, EndKind.SETUP, EndKind.SUITE})
COMPLETIONS = "/v1/chat/completions"
"""Where a model is called; asking which models there are calls none."""
_NO_RUN = AgentRun(ending=Ending(kind=EndKind.FINISHED))


@dataclass(frozen=True)
class Task:
    """One attempt that is to be made."""

    planned: PlannedCase
    case: Case
    attempt: int
    repeat: int
    retry_of: int | None = None

    @property
    def key(self) -> AttemptKey:
        """What fixture API and runner call it."""
        return AttemptKey(case=self.case.id, attempt=self.attempt)


class LeadsThroughProxies(Protocol):
    """Whoever puts toxics between an attempt and its world (`runner.faults.proxies.FaultProxies`)."""

    def around(
        self, toxics: Sequence[Toxic], *, fixture_url: str, model_url: str
    ) -> AbstractContextManager[ProxiedAttempt]:
        """Within: the attempt's URLs lead through proxies; raises FaultProxyError before and after."""
        ...


@dataclass(frozen=True)
class _Acted:
    """What the agent did, and what went through its proxies, by target."""

    run: AgentRun
    seconds: float
    flows: Mapping[str, Counters] = field(default_factory=dict)


class OpensAttempts(Protocol):
    """Whoever keeps the attempts' worlds (`runner.world.World`)."""

    def open(self, opening: AttemptOpening) -> AttemptOpened:
        """Open an attempt; raises WorldLostError and WorldRefusedError."""
        ...

    def close(self, key: AttemptKey, *, hide: str) -> AttemptClosed:
        """Close it and tell everything; raises the same."""
        ...


@dataclass(frozen=True)
class AttemptMaker:
    """Makes attempts of one plan; safe for many threads."""

    plan: Plan
    suite: Suite
    fixture_url: str
    world: OpensAttempts
    agent: Agent
    started: Callable[[Task], None]
    """Told when an attempt begins."""
    suite_until_s: float = float("inf")
    """When the suite's time is over, on the runner's clock."""
    proxies: LeadsThroughProxies | None = None
    """Present where an attempt of the plan has network faults."""
    tracing: Tracing = NO_TRACING

    def make(self, task: Task) -> RunnerAttempt:
        """The finished attempt; whatever happened is in its record."""
        with self.tracing.attempt(task) as trace:
            finished = self._made(task, trace)
            trace.finished(finished.record)
        return finished if trace.traceparent is None else _traced(finished, trace.traceparent)

    def _made(self, task: Task, trace: AttemptTrace) -> RunnerAttempt:
        started_at = clock.now_at()
        assignment = replace(self._assignment(task), trace=trace)
        try:
            prefix = self._open(assignment)
        except WorldLostError as trouble:
            return _write(task, verdict=not_run(str(trouble)), started_at=started_at)
        except WorldRefusedError as trouble:
            verdict = decide(Happened(ending=_NO_RUN.ending, lost=f"the attempt could not be opened: {trouble}"))
            return _write(task, verdict=verdict, started_at=started_at)
        self.started(task)
        # who selects by header is told no prefix; the lab's own chat loop needs no such help
        by_header = self.plan.agent.select == "header" and self.plan.agent.adapter != "chat"
        fixture_url = self.fixture_url + ("" if by_header else prefix)
        own_model = assignment.agent.model_url if assignment.model_is_outside else None
        assignment = replace(assignment, fixture_url=fixture_url, model_url=own_model or f"{fixture_url}/v1")
        acted = self._act(assignment)
        run, seconds = acted.run, acted.seconds
        try:
            closed = self.world.close(task.key, hide=prefix.removeprefix("/~"))
        except (WorldLostError, WorldRefusedError) as trouble:
            verdict = decide(Happened(ending=run.ending, lost=f"the attempt could not be closed: {trouble}"))
            return _write(task, verdict=verdict, started_at=started_at, run=run, seconds=seconds)
        return _judge(assignment, task, acted, closed, started_at=started_at)

    def _act(self, assignment: Assignment) -> _Acted:
        """Let the agent act, through proxies where toxics are planned."""
        toxics = assignment.toxics
        if not toxics:
            return self._run(assignment)
        if self.proxies is None:
            raise AssertionError("toxics need proxies")
        acted = None
        try:
            with self.proxies.around(
                toxics, fixture_url=assignment.fixture_url, model_url=assignment.model_url
            ) as proxied:
                led = replace(assignment, fixture_url=proxied.fixture_url, model_url=proxied.model_url)
                acted = self._run(led)
        except FaultProxyError as trouble:
            what = "its faults could not be applied" if acted is None else "the fault proxy was lost"
            ending = Ending(kind=EndKind.INFRASTRUCTURE, reason=f"{what}: {trouble}")
            if acted is None:
                return _Acted(replace(_NO_RUN, ending=ending), 0.0)
            return replace(acted, run=replace(acted.run, ending=ending))
        return replace(acted, flows=proxied.flows)

    def _run(self, assignment: Assignment) -> _Acted:
        began_s = clock.elapsed_s()
        run = self.agent.run(assignment)
        return _Acted(run, clock.elapsed_s() - began_s if run.seconds is None else run.seconds)

    def skip(self, task: Task, *, reason: str) -> RunnerAttempt:
        """The record of an attempt that is not made."""
        return _write(task, verdict=not_run(reason), started_at=clock.now_at())

    def _assignment(self, task: Task) -> Assignment:
        agent = self.plan.agent
        return Assignment(
            case=task.case,
            attempt=task.attempt,
            agent=agent,
            conditions=self.plan.conditions,
            limits=attempt_limits(self.plan.conditions.limits, task.case),
            tools=self.suite.tools,
            prompt=self.suite.prompts[agent.prompt].text if agent.prompt else None,
            policy=self.suite.policy.text if self.suite.policy else None,
            fixture_url="",
            model_url="",
            suite_until_s=self.suite_until_s,
        )

    def _open(self, assignment: Assignment) -> str:
        agent = self.plan.agent
        opening = AttemptOpening(
            case=assignment.case.id,
            attempt=assignment.attempt,
            prompt=agent.prompt,
            model=agent.model if is_scripted(agent.model) else None,
            select=agent.select,
            tool_call_limit=assignment.limits.tool_calls,
            model_call_limit=assignment.limits.model_calls,
            request_limit=most_other_requests(assignment.limits),
            faults=assignment.has_faults,
            proxied=bool(assignment.toxics),
            timed=OBSERVE_PROFILE in self.plan.conditions.profiles,
        )
        return self.world.open(opening).prefix


def _traced(attempt: RunnerAttempt, traceparent: str) -> RunnerAttempt:
    return attempt.model_copy(update={"traceparent": traceparent})


def _judge(
    assignment: Assignment, task: Task, acted: _Acted, closed: AttemptClosed, *, started_at: str
) -> RunnerAttempt:
    run = acted.run
    assignment.trace.seen(closed.served, run.events)
    calls = merge_trajectory(closed.served, run.events, bound_tools=assignment.bound_tools)
    run = replace(
        run,
        usage=_with_model_calls(run.usage, closed, is_scripted=not assignment.model_is_outside),
        ending=_ending(run.ending, closed, calls=calls, assignment=assignment),
    )
    observed = Observed(
        calls=calls,
        texts=run.texts,
        state=closed.state,
        unmatched=tuple(request.unmatched for request in closed.served if request.unmatched is not None),
        usage=run.usage,
        seconds=acted.seconds,
        passed_limit=run.ending.limit,
    )
    # an agent that never ran, or lost its world, showed nothing that could be judged
    checks = () if run.ending.kind in _SHOWED_NOTHING else judge(task.case, observed, trace=assignment.trace)
    faults = _faults(assignment, acted, closed)
    happened = Happened(
        ending=run.ending,
        checks=checks,
        faults=faults or (),
        suite_error=closed.suite_error,
        model_error=closed.model_error,
        expects_nothing=task.case.expect.is_empty,
    )
    return _write(
        task,
        verdict=decide(happened),
        started_at=started_at,
        run=run,
        seconds=acted.seconds,
        calls=calls,
        checks=checks,
        closed=closed,
        faults=faults,
    )


def _faults(assignment: Assignment, acted: _Acted, closed: AttemptClosed) -> tuple[FaultWitness, ...] | None:
    """What became of each planned fault; None where none is, and where the proxies that would tell were lost."""
    if not assignment.has_faults or acted.flows.keys() != {toxic.target for toxic in assignment.toxics}:
        return None
    return witnesses(assignment.case, acted.flows, [request.row for request in closed.served])


def _ending(
    ending: Ending, closed: AttemptClosed, *, calls: tuple[TrajectoryCall, ...], assignment: Assignment
) -> Ending:
    """The agent's ending, or the limit that only the world, or the whole trajectory, shows to be passed."""
    if ending.kind in {EndKind.LIMIT, *_SHOWED_NOTHING}:
        return ending
    limits = assignment.limits
    if closed.breached is not None:
        return passed_limit(closed.breached, limits=limits)
    if len(counted(calls)) > limits.tool_calls:
        return passed_limit("tool_calls", limits=limits)
    return ending


def _with_model_calls(usage: Usage, closed: AttemptClosed, *, is_scripted: bool) -> Usage:
    if usage.model_calls is not None or not is_scripted:
        return usage
    rows = (request.row for request in closed.served)
    model_calls = sum(row.via is Via.MODEL and row.path == COMPLETIONS for row in rows)
    return usage.model_copy(update={"model_calls": model_calls})


def _write(  # noqa: PLR0913 - the parts of a record
    task: Task,
    *,
    verdict: Verdict,
    started_at: str,
    run: AgentRun = _NO_RUN,
    seconds: float = 0.0,
    calls: tuple[TrajectoryCall, ...] = (),
    checks: tuple[Check, ...] = (),
    closed: AttemptClosed | None = None,
    faults: tuple[FaultWitness, ...] | None = None,
) -> RunnerAttempt:
    record = AttemptRecord(
        case_id=task.case.id,
        title=task.planned.title,
        protected=task.planned.protected,
        case_digest=task.planned.case_digest,
        attempt=task.attempt,
        repeat=task.repeat,
        retry_of=task.retry_of,
        outcome=verdict.outcome,
        outcome_class=verdict.outcome_class,
        reason=verdict.reason,
        checks=checks,
        trajectory=calls,
        trajectory_digest=digest_trajectory(calls),
        tool_calls=len(counted(calls)),
        texts=run.texts,
        log=run.log,
        usage=run.usage,
        faults=faults,
        agent_end=run.agent_end,
        state_digest=digest_of_any(closed.state) if closed is not None else None,
        journal_rows=len(closed.served) if closed is not None else 0,
        started_at=started_at,
        duration_ms=round(seconds * 1000),
    )
    rows = tuple(request.row for request in closed.served) if closed is not None else ()
    return RunnerAttempt(record=record, journal=rows)
