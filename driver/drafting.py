"""From flags to a plan: reads the suite, applies the flags, decides every condition, starts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contracts.fault_plan import cases_with_toxics, with_fault_plan
from contracts.plan import Backend, Conditions, ImageIdentity, Plan, Program
from contracts.planning import conditions_of, effective_limits, not_selected, planned_cases
from contracts.suite.kept_cases import KeptCases
from contracts.suite.staging import NEVER_SEEN
from contracts.suite.suite import Suite
from driver import clock
from driver.agent_choice import ChosenAgent, Fetch
from driver.agent_env import AgentEnv
from driver.agent_reach import models_outside
from driver.base_images import BaseImages
from driver.choices import Choices, choose
from driver.docker_agent_binary import IMAGE_KEY
from driver.fault_reach import refuse_model_out_of_the_stack
from driver.judging.plan import JudgePlan, missing_judge, plan_judge
from driver.model_access import require_model_access
from driver.ports import OwnContainers
from driver.request import RunRequest
from driver.rerun import recorded_flags
from driver.scratch import refuse_temporary_in, temporary_folder
from driver.surroundings import Surroundings
from driver.version import VERSION


@dataclass(frozen=True)
class Draft:
    """Everything that was decided without looking at the engine."""

    request: RunRequest
    suite: Suite
    """With the same cases."""
    cases: KeptCases
    """The selected ones that are looked at again: those that have relevance or a working_dir, and all sessions. Of the
    others the plan says all that the driver needs, and there may be many."""
    agent: ChosenAgent
    env: AgentEnv
    judge: JudgePlan | None
    """None: nothing to judge, or nobody to ask."""
    held: Mapping[str, str]
    """Secrets by name that labctl was given and may be nobody's."""
    plan: Plan
    """Complete but for the images."""
    bases: BaseImages
    """Empty unless each attempt has a container of its own."""
    cases_with_toxics: tuple[str, ...] = ()
    """Ids of all selected cases that need the fault proxy."""

    @property
    def own_containers(self) -> OwnContainers | None:
        """What the stack needs to know of them; None where attempts share one."""
        if self.plan.conditions.isolation == "shared":
            return None
        return OwnContainers(
            image_of_case=self.bases.of_case,
            working_dirs=dict(self._working_dirs()),
            keep=self.request.keep_containers,
            runtime=self.request.container_runtime or "docker",
        )

    def _working_dirs(self) -> Iterator[tuple[str, str]]:
        for case in self.cases.having("working_dir"):
            if (folder := self.suite.working_dir_of(case)) is not None:
                yield case.id, folder.relative_to(self.suite.root).as_posix()

    @property
    def image_references(self) -> dict[str, str]:
        """The images of a user that containers of this run are made from, by their keys in plan.images."""
        agent = self.plan.agent
        of_binary = agent.binary_image if self.plan.conditions.backend == "compose" else None
        return self.bases.references | ({IMAGE_KEY: of_binary} if of_binary else {})

    @property
    def secrets(self) -> dict[str, str]:
        """Every value that may reach no file, by its name."""
        secrets = self.env.secrets
        for more in (self.judge.secrets if self.judge else {}, self.held):
            secrets = secrets | {name: value for name, value in more.items() if value not in secrets.values()}
        return secrets

    def warnings(self) -> list[str]:
        """What a person should know before the run starts."""
        if self.judge is None and any(self.cases.having("relevance")):
            return [missing_judge(self.cases.having("relevance"))]
        return []


def draft_run(request: RunRequest, *, backend: Backend, host_env: Mapping[str, str], fetch: Fetch) -> Draft:
    """Read the suite and decide the plan; `fetch` gets an agent out of a registry.

    Raises:
        LabError: with exit 2 for everything that the flags, the suite or an agent file have wrong; see
            `contracts.planning` and `driver.agent_choice`. With exit 4 for an agent that cannot be fetched, and for a
            model that could not be asked: no key, or no way to it. What `driver.scratch.refuse_temporary_in` raises.

    """
    chosen = _chosen(request, host_env=host_env, fetch=fetch)
    suite, cases, agent = chosen.suite, chosen.cases, chosen.agent
    limits = effective_limits(suite.settings.limits, timeout=request.timeout_s)
    outside = models_outside(agent.file, agent.plan, env=chosen.env.values) if agent.file else None
    surroundings = Surroundings.decide(
        request, suite=suite, cases=cases, agent=agent.plan, backend=backend, outside=outside
    )
    refuse_model_out_of_the_stack(agent.plan, cases, profiles=chosen.profiles, backend=backend)
    require_model_access(agent.plan, values=chosen.env.values)
    judge = plan_judge(
        suite, cases.having("relevance"), request=request, values=chosen.values, seconds=limits.model_seconds
    )
    plan = Plan(
        run_id=chosen.run_id,
        labctl=VERSION,
        command=request.command,
        suite=str(request.suite),
        flags=recorded_flags(request),
        agent=agent.plan,
        conditions=_conditions(request, chosen, surroundings, judge, backend=backend),
        capture=request.capture,
        concurrency=request.concurrency,
        job=request.job,
        suite_timeout_seconds=request.suite_timeout_s,
        planned_at=clock.instant(chosen.started_at),
        not_selected=not_selected(suite, cases),
        cases=planned_cases(suite, cases, repeats=request.repeat),
    )
    later = cases if suite.sessions else KeptCases.of(cases.having("relevance", "working_dir"))
    return Draft(
        request=request,
        suite=suite.with_cases(later),
        cases=later,
        agent=agent,
        env=chosen.env,
        judge=judge,
        held=chosen.held,
        plan=plan,
        bases=surroundings.bases,
        cases_with_toxics=cases_with_toxics(cases.having("faults"), chosen.profiles),
    )


def _chosen(request: RunRequest, *, host_env: Mapping[str, str], fetch: Fetch) -> Choices:
    """What the flags choose, unless the temporary files of the run have no place, or one in its suite."""
    temporary_folder()
    chosen = choose(request, host_env=host_env, fetch=fetch)
    refuse_temporary_in(chosen.suite.root, what="suite", but=NEVER_SEEN)
    return chosen


def _conditions(
    request: RunRequest, chosen: Choices, surroundings: Surroundings, judge: JudgePlan | None, *, backend: Backend
) -> Conditions:
    conditions = conditions_of(
        chosen.suite,
        chosen.agent.plan,
        backend=backend,
        seed=request.seed,
        limits=effective_limits(chosen.suite.settings.limits, timeout=request.timeout_s),
        agent_env=chosen.env.recorded(),
        profiles=chosen.profiles,
        isolation=surroundings.isolation,
        egress=surroundings.egress,
        setup_root=request.setup_root,
        no_setup=request.no_setup,
    )
    judged = with_fault_plan(conditions, chosen.suite.cases.having("faults")).model_copy(
        update=judge.conditions() if judge else {}
    )
    return chosen.agent.conditions(judged, chosen.suite)


def with_preflight(
    plan: Plan,
    images: dict[str, ImageIdentity],
    *,
    program: Program | None,
    script: Program | None,
    fault_proxy: Program | None,
) -> Plan:
    """The plan with the images, the agent's program and the toxiproxy of this machine that the preflight found."""
    agent = plan.agent.model_copy(update={"binary": program, "script": script})
    return plan.model_copy(update={"images": images, "agent": agent, "fault_proxy": fault_proxy})
