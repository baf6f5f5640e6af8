"""One order from the first connection to the last attempt; whoever drives it gets attempts as they are finished."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import ErrorCode, Found, LabError
from contracts.lines import RunnerAttempt
from contracts.model_endpoint import is_scripted
from contracts.order import DockerAgentOrder, HostPerAttempt, RunnerOrder
from contracts.pace import PACE_MARK
from contracts.record import Record
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from runner import clock
from runner.agents.interface import Agent
from runner.attempts import AttemptMaker, Task
from runner.gate import Gate
from runner.http_calls import Server
from runner.schedule import Schedule, plan_tasks
from runner.suite_time import SuiteTime
from runner.trace import NO_TRACING, Tracing
from runner.world import World

if TYPE_CHECKING:
    from runner.agents.following import Hosting
    from runner.agents.http_agent import HttpAgent
    from runner.agents.provider_model import ProviderModel
    from runner.agents.served_process import ServedProcess
    from runner.containers import Containers
    from runner.faults.proxies import FaultProxies
    from runner.hosting import AgentHost

SUITE_MARK = "{suite}"
"""In an agent's command: the directory with the suite's files that an agent may read."""


@dataclass
class Execution:
    """An order that is carried out once: `reach`, then `run`, then `close`."""

    order: RunnerOrder
    suite: Suite
    world: World
    host: AgentHost | None = None
    containers: Containers | None = None
    tracing: Tracing = NO_TRACING
    agent: Agent | None = field(default=None, init=False)
    service: ServedProcess | None = field(default=None, init=False)
    served: HttpAgent | None = field(default=None, init=False)
    outside: ProviderModel | None = field(default=None, init=False)
    gate: Gate = field(default_factory=Gate, init=False)
    proxies: FaultProxies | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.time = SuiteTime(self.order.plan.suite_timeout_seconds, watch=self.world)

    @classmethod
    def of(cls, order: RunnerOrder, *, suite: Suite | None = None) -> Execution:
        """Read the suite of the order, unless it was read; raises LabError for one that is not what was planned."""
        suite = suite or load_suite(Path(order.suite))
        refuse_other_suite(order, suite)
        gc.freeze()  # the suite lives as long as the process; see the start of `runner.__main__`
        gc.enable()
        world = World(order.control_url, connections=order.plan.concurrency)
        return cls(order=order, suite=suite, world=world, tracing=_tracing(order, suite))

    def reach(self, *, tell: Callable[[Record], None] | None = None) -> None:
        """Wait for the fixture API and, where one is needed, for agent_host; raises LabError when they do not come.

        `tell` reaches the driver, which starts containers of attempts.
        """
        if isinstance(self.order.agent_host, HostPerAttempt):
            from runner.containers import Containers  # noqa: PLC0415 - a run imports what it uses

            if tell is None:
                raise AssertionError("containers need a driver")
            seconds = self.order.startup_seconds
            self.containers = Containers(tell=tell, port=self.order.agent_host.port, seconds=seconds)
        until = clock.elapsed_s() + self.order.startup_seconds
        self.world.await_health(seconds=self.order.startup_seconds)
        self.proxies = self._reach_proxies(seconds=max(until - clock.elapsed_s(), 1.0))
        self.agent = self._contained(self._make_agent(seconds=max(until - clock.elapsed_s(), 1.0)))

    def _reach_proxies(self, *, seconds: float) -> FaultProxies | None:
        if self.order.fault_proxy is None:
            return None
        from runner.faults.proxies import FaultProxies  # noqa: PLC0415 - its client library takes a tenth of a second

        plan = self.order.plan
        # a service goes on after an attempt; every other agent is ended with it
        proxies = FaultProxies(self.order.fault_proxy, slots=plan.concurrency, is_outlived=plan.agent.adapter == "http")
        proxies.probe(seconds=seconds)
        return proxies

    def _contained(self, agent: Agent) -> Agent:
        if self.containers is None:
            return agent
        from runner.agents.contained import ContainedAgent  # noqa: PLC0415 - as above

        plan, env = self.order.plan, self.order.agent_env
        return ContainedAgent(agent, containers=self.containers, plan=plan, agent_env=env)

    def hear(self, line: bytes) -> None:
        """Take what the driver says while attempts are under way."""
        if line.startswith(PACE_MARK):
            self.gate.hear(line)
        elif self.containers is not None:
            self.containers.hear(line)

    def _make_agent(self, *, seconds: float) -> Agent:
        agent = self.order.plan.agent
        if agent.adapter == "chat":
            return self._chat_agent()
        if agent.adapter == "command" and agent.command:
            return self._command_agent(agent.command, seconds=seconds)
        if agent.adapter == "http":
            return self._http_agent(seconds=seconds)
        if self.order.docker_agent is not None:
            return self._docker_agent(self.order.docker_agent, seconds=seconds)
        raise LabError(
            ErrorCode.NOT_BUILT_YET,
            f"a {agent.adapter} agent runs under labctl only, which stages its files",
            next_step="labctl run",
        )

    def _chat_agent(self) -> Agent:
        from runner.agents.chat import ChatAgent  # noqa: PLC0415 - a run imports the adapter that it uses

        server = Server(self.order.fixture_url, connections=self.order.plan.concurrency)
        agent = self.order.plan.agent
        if is_scripted(agent.model):
            return ChatAgent(self.order.fixture_url, server=server)
        from runner.agents.provider_model import ProviderModel  # noqa: PLC0415 - its library takes 0.7 s to load

        self.outside = ProviderModel.of(agent, values=self.order.agent_env)
        return ChatAgent(self.order.fixture_url, server=server, model=self.outside)

    def _command_agent(self, command: tuple[str, ...], *, seconds: float) -> Agent:
        from runner.agents.command import CommandAgent  # noqa: PLC0415 - a run imports the adapter that it uses

        host, argv = self._hosting(seconds=seconds), self._argv(command)
        return CommandAgent(host, watch=self.time, argv=argv, agent_env=self.order.agent_env)

    def _docker_agent(self, where: DockerAgentOrder, *, seconds: float) -> Agent:
        from runner.agents.docker_agent import DockerAgent  # noqa: PLC0415 - a run imports the adapter that it uses

        host = self._hosting(seconds=seconds)
        return DockerAgent(host, watch=self.time, where=where, agent_env=self.order.agent_env)

    def _http_agent(self, *, seconds: float) -> Agent:
        from runner import serving_agents  # noqa: PLC0415 - a run imports the adapter that it uses
        from runner.agents.http_agent import HttpAgent  # noqa: PLC0415
        from runner.agents.served_chat import ask_as_chat  # noqa: PLC0415
        from runner.agents.served_events import ask_for_events  # noqa: PLC0415

        agent, place = self.order.plan.agent, serving_agents.place_of(self.order)
        if agent.command:
            host, argv = self._reach_host(seconds=seconds), self._argv(agent.command)
            self.service = serving_agents.start_service(self.order, place, host=host, argv=argv)
        endpoint = serving_agents.endpoint_of(self.order, place, process=self.service)
        serving_agents.await_service(
            endpoint, place, process=self.service, seconds=agent.start_seconds or self.order.startup_seconds
        )
        if agent.auth_required:
            serving_agents.refuse_open_listener(endpoint, place)
        ask = ask_as_chat if agent.protocol == "openai" else ask_for_events
        self.served = HttpAgent(endpoint, watch=self.time, ask=ask)
        return self.served

    def _hosting(self, *, seconds: float) -> Hosting:
        """Where processes of agents run: in the container of each attempt, or all at one host, which is reached now."""
        return self._reach_host(seconds=seconds) if self.containers is None else self.containers

    def _reach_host(self, *, seconds: float) -> AgentHost:
        from runner.hosting import missing_host, reach_host  # noqa: PLC0415 - a chat run has no host

        where = self.order.agent_host
        if where is None or isinstance(where, HostPerAttempt):
            raise missing_host("the agent is a process, and no agent_host is named", cause="the order has none")
        self.host = reach_host(where, seconds=seconds)
        return self.host

    def _argv(self, command: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.replace(SUITE_MARK, self.order.agent_suite) for word in command)

    def run(self, *, started: Callable[[Task], None], emit: Callable[[RunnerAttempt], None]) -> int:
        """Make every attempt that is not finished, and return how many; both are called from many threads."""
        with self.time.running():
            tasks = plan_tasks(self.order.plan, self.suite, self.order.finished)
            if self.containers is None:
                return self._schedule(started, emit).run(tasks, concurrency=self.order.plan.concurrency)
            groups = self.containers.ahead(tasks, lost=self._lost)
            schedule = self._schedule(started, self.containers.giving_back(emit))
            return schedule.run(groups, concurrency=self.order.plan.concurrency)

    def _schedule(self, started: Callable[[Task], None], emit: Callable[[RunnerAttempt], None]) -> Schedule:
        if self.agent is None:
            raise AssertionError("reach comes first")
        plan = self.order.plan
        maker = AttemptMaker(
            plan=plan,
            suite=self.suite,
            fixture_url=self.order.fixture_url.rstrip("/"),
            world=self.world,
            agent=self.agent,
            started=started,
            suite_until_s=self.time.until_s,
            proxies=self.proxies,
            tracing=self.tracing,
        )
        retries, over = plan.conditions.limits.infrastructure_retries, self.tracing.repeat_over
        return Schedule(maker, emit=emit, lost=self._lost, abandon=self.end, retries=retries, gate=self.gate, over=over)

    def _lost(self) -> str | None:
        losses = (self.time.over, self.world.lost, self.host and self.host.lost, self.service and self.service.over)
        return next((loss for loss in losses if loss), None)

    def end(self) -> None:
        """End every agent now; attempts under way are lost."""
        if self.served is not None:
            self.served.end()
        for reached in (self.host, self.containers):
            if reached is not None:
                reached.close()
        if self.service is not None:
            self.service.drain()

    def close(self) -> None:
        """Leave everything that was reached."""
        self.end()
        if self.outside is not None:
            self.outside.close()
        if self.proxies is not None:
            self.proxies.close()
        self.world.disconnect()


def _tracing(order: RunnerOrder, suite: Suite) -> Tracing:
    if order.spans is None:
        return NO_TRACING
    from runner.spans import SpanTracing  # noqa: PLC0415 - its library is for traced runs only

    return SpanTracing.of(order.plan, suite, sink=order.spans)


def refuse_other_suite(order: RunnerOrder, suite: Suite) -> None:
    """Raise LabError SUITE_INVALID when a planned case is not in the suite, or is not what was planned."""
    planned = {case.case_id: case.case_digest for case in order.plan.cases}
    other = [case_id for case_id, digest in planned.items() if suite.case_digests.get(case_id) != digest]
    if other:
        raise LabError(
            ErrorCode.SUITE_INVALID,
            "the suite is not the one that was planned",
            found=[Found("another case, or none, has that id", file=order.suite, place=case_id) for case_id in other],
        )
