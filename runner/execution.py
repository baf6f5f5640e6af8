"""One order from the first connection to the last attempt; whoever drives it gets attempts as they are finished."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import ErrorCode, Found, LabError
from contracts.lines import RunnerAttempt
from contracts.order import DockerAgentOrder, RunnerOrder
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from runner import clock
from runner.agents.interface import Agent
from runner.attempts import AttemptMaker, Task
from runner.http_calls import Server
from runner.schedule import Schedule, plan_tasks
from runner.world import World

if TYPE_CHECKING:
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
    agent: Agent | None = field(default=None, init=False)

    @classmethod
    def of(cls, order: RunnerOrder, *, suite: Suite | None = None) -> Execution:
        """Read the suite of the order, unless it was read; raises LabError for one that is not what was planned."""
        suite = suite or load_suite(Path(order.suite))
        refuse_other_suite(order, suite)
        gc.freeze()  # the suite lives as long as the process; see the start of `runner.__main__`
        gc.enable()
        return cls(order=order, suite=suite, world=World(order.control_url, connections=order.plan.concurrency))

    def reach(self) -> None:
        """Wait for the fixture API and, where one is needed, for agent_host; raises LabError when they do not come."""
        until = clock.elapsed_s() + self.order.startup_seconds
        self.world.await_health(seconds=self.order.startup_seconds)
        self.agent = self._make_agent(seconds=max(until - clock.elapsed_s(), 1.0))

    def _make_agent(self, *, seconds: float) -> Agent:
        agent = self.order.plan.agent
        if agent.adapter == "chat":
            from runner.agents.chat import ChatAgent  # noqa: PLC0415 - a run imports the adapter that it uses

            server = Server(self.order.fixture_url, connections=self.order.plan.concurrency)
            return ChatAgent(self.order.fixture_url, server=server)
        if agent.adapter == "command" and agent.command:
            return self._command_agent(agent.command, seconds=seconds)
        if agent.adapter == "docker-agent" and self.order.docker_agent is not None:
            return self._docker_agent(self.order.docker_agent, seconds=seconds)
        if agent.adapter == "docker-agent":
            raise LabError(
                ErrorCode.NOT_BUILT_YET,
                "a docker-agent agent runs under labctl only, which stages its files",
                next_step="labctl run",
            )
        raise LabError(
            ErrorCode.NOT_BUILT_YET,
            f"agents with adapter {agent.adapter} are not part of this version",
            expected="adapter chat, command or docker-agent",
        )

    def _command_agent(self, command: tuple[str, ...], *, seconds: float) -> Agent:
        from runner.agents.command import CommandAgent  # noqa: PLC0415 - a run imports the adapter that it uses

        host = self._reach_host(seconds=seconds)
        argv = tuple(word.replace(SUITE_MARK, self.order.agent_suite) for word in command)
        return CommandAgent(host, watch=self.world, argv=argv, agent_env=self.order.agent_env)

    def _docker_agent(self, where: DockerAgentOrder, *, seconds: float) -> Agent:
        from runner.agents.docker_agent import DockerAgent  # noqa: PLC0415 - a run imports the adapter that it uses

        host = self._reach_host(seconds=seconds)
        return DockerAgent(host, watch=self.world, where=where, agent_env=self.order.agent_env)

    def _reach_host(self, *, seconds: float) -> AgentHost:
        from runner.hosting import missing_host, reach_host  # noqa: PLC0415 - a chat run has no host

        if self.order.agent_host is None:
            raise missing_host("the agent is a program, and no agent_host is named", cause="the order has none")
        self.host = reach_host(self.order.agent_host, seconds=seconds)
        return self.host

    def run(self, *, started: Callable[[Task], None], emit: Callable[[RunnerAttempt], None]) -> int:
        """Make every attempt of the plan; `started` and `emit` are called from many threads. Returns how many."""
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
        )
        retries = plan.conditions.limits.infrastructure_retries
        schedule = Schedule(maker, emit=emit, lost=self._lost, abandon=self.end, retries=retries)
        return schedule.run(plan_tasks(plan, self.suite), concurrency=plan.concurrency)

    def _lost(self) -> str | None:
        return self.world.lost or (self.host.lost if self.host is not None else None)

    def end(self) -> None:
        """End every agent now; attempts under way are lost."""
        if self.host is not None:
            self.host.close()

    def close(self) -> None:
        """Leave everything that was reached."""
        self.end()
        self.world.disconnect()


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
