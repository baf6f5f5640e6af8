"""Any agent of processes in a container of its own: the container is taken, the case's setup runs, then the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from contracts.control import AttemptKey
from contracts.plan import Plan
from contracts.suite.case import Case
from runner import clock
from runner.agents.claims import hiding, lost
from runner.agents.interface import Agent, AgentRun, Assignment, Ending, EndKind
from runner.agents.setup import Setup, SetupEnd, end_of_root_setup, reason_of, run_setup
from runner.agents.task import agent_environment
from runner.containers import Container, Containers, NoContainerError
from runner.suite_time import SuiteTimeOverError, time_left_s
from runner.texts import cut_text


class ContainedAgent:
    """Runs `inner`, whose processes go to `containers`, once the case's setup succeeded."""

    def __init__(self, inner: Agent, *, containers: Containers, plan: Plan, agent_env: Mapping[str, str]) -> None:
        self._inner = inner
        self._containers = containers
        self._plan = plan
        self._agent_env = agent_env

    def run(self, assignment: Assignment) -> AgentRun:
        """See `runner.agents.interface.Agent`; the time of container and setup is the suite's, not the agent's."""
        key = AttemptKey(case=assignment.case.id, attempt=assignment.attempt)
        try:
            with self._containers.taken(key, until_s=assignment.suite_until_s) as container:
                end = self._set_up(assignment, container)
                if end is not None and end.trouble is not None:
                    return _not_set_up(end, assignment)
                time_left_s(assignment.suite_until_s)
                began_s = clock.elapsed_s()
                run = self._inner.run(assignment)
                return replace(run, seconds=clock.elapsed_s() - began_s)
        except NoContainerError as error:
            return AgentRun(ending=lost(f"no container for the attempt: {error}"), seconds=0.0)
        except SuiteTimeOverError as over:
            return AgentRun(ending=lost(str(over)), seconds=0.0)

    def _set_up(self, assignment: Assignment, container: Container) -> SetupEnd | None:
        script, conditions = assignment.case.setup, assignment.conditions
        if script is None or conditions.no_setup:
            return None
        setup = Setup(
            script=script,
            env=agent_environment(assignment, self._agent_env),
            seconds=conditions.limits.setup_seconds,
            output_bytes=assignment.limits.output_bytes,
            image=image_of(self._plan, assignment.case),
            until_s=assignment.suite_until_s,
        )
        if conditions.setup_root:
            ended = self._containers.set_up_as_root(
                container, script, env=setup.env, seconds=setup.seconds, until_s=setup.until_s
            )
            return end_of_root_setup(ended, setup)
        with self._containers.session("setup") as session:
            return run_setup(setup, session)


def _not_set_up(end: SetupEnd, assignment: Assignment) -> AgentRun:
    hide = hiding(assignment)
    reason = hide(reason_of(end, assignment.conditions))
    return AgentRun(
        ending=Ending(kind=EndKind.SETUP, reason=reason), log=hide(cut_text(end.output)) or None, seconds=0.0
    )


def image_of(plan: Plan, case: Case) -> str:
    """The reference of what the case's container is made from, as it was planned."""
    keys = (f"base:{case.image}", "base", "agent")
    return next((plan.images[key].reference for key in keys if key in plan.images), "of the agent")
