"""From flags to a plan: reads the suite, applies the flags, decides every condition, starts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.agent_resolution import missing_token
from contracts.errors import ErrorCode, LabError
from contracts.plan import OWN_PROFILES, AgentPlan, Backend, ImageIdentity, Plan
from contracts.planning import conditions_of, effective_limits, planned_cases, resolve_agent, select_cases
from contracts.suite.case import Case
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from driver import clock
from driver.agent_env import AgentEnv, resolve_agent_env
from driver.base_images import BaseImages
from driver.env_file import read_env_values
from driver.judging.plan import JudgePlan, missing_judge, plan_judge
from driver.model_access import require_model_access
from driver.ports import OwnContainers
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.surroundings import Surroundings
from driver.version import VERSION
from ledger.run_id import RANDOM_BYTES, checked_run_id, new_run_id


@dataclass(frozen=True)
class Draft:
    """Everything that was decided without looking at the engine."""

    request: RunRequest
    suite: Suite
    cases: tuple[Case, ...]
    env: AgentEnv
    judge: JudgePlan | None
    """None: nothing to judge, or nobody to ask."""
    plan: Plan
    """Complete but for the images."""
    bases: BaseImages
    """Empty unless each attempt has a container of its own."""

    @property
    def own_containers(self) -> OwnContainers | None:
        """What the stack needs to know of them; None where attempts share one."""
        if self.plan.conditions.isolation == "shared":
            return None
        return OwnContainers(
            image_of_case=self.bases.of_case,
            working_dirs={case.id: case.working_dir for case in self.cases if case.working_dir is not None},
            keep=self.request.keep_containers,
            runtime=self.request.container_runtime or "docker",
        )

    @property
    def secrets(self) -> dict[str, str]:
        """Every value that may reach no file, by its name."""
        secrets = self.env.secrets
        own = self.judge.secrets if self.judge else {}
        return secrets | {name: value for name, value in own.items() if value not in secrets.values()}

    def warnings(self) -> list[str]:
        """What a person should know before the run starts."""
        if self.judge is None and any(case.expect.relevance for case in self.cases):
            return [missing_judge(self.cases)]
        return []


def draft_run(request: RunRequest, *, backend: Backend, host_env: Mapping[str, str]) -> Draft:
    """Read the suite and decide the plan.

    Raises:
        LabError: with exit 2 for everything that the flags or the suite have wrong; see `contracts.planning`. With
            exit 4 for a model that could not be asked: no key, or no way to it.

    """
    suite = load_suite(request.suite)
    flags = Refusals()
    file_values = flags.value_of(lambda: _file_values(request, host_env))
    host_env = {**host_env, **(file_values or {})}
    cases = flags.value_of(lambda: select_cases(suite, case_ids=request.case_ids, only=request.only))
    agent = flags.value_of(lambda: resolve_agent(suite, name=request.agent, model=request.model, prompt=request.prompt))
    env = flags.value_of(lambda: _agent_env(request, suite, agent, host_env))
    if agent is not None and env is not None:
        flags.value_of(lambda: _refuse_missing_token(agent, env))
    flags.value_of(lambda: _refuse_unbuilt_profiles(request.profiles))
    started_at = clock.now()
    run_id = flags.value_of(lambda: _run_id(request, started_at))
    if flags.any or cases is None or agent is None or env is None or run_id is None:
        raise flags.as_one()
    limits = effective_limits(suite.settings.limits, timeout=request.timeout_s)
    surroundings = Surroundings.decide(request, suite=suite, cases=cases, agent=agent, backend=backend)
    require_model_access(agent, values=env.values)
    judge = plan_judge(
        suite,
        cases,
        request=request,
        values={**env.values, **host_env},
        seconds=limits.model_seconds,
    )
    plan = Plan(
        run_id=run_id,
        labctl=VERSION,
        command=request.command,
        suite=str(request.suite),
        agent=agent,
        conditions=conditions_of(
            suite,
            agent,
            backend=backend,
            seed=request.seed,
            limits=limits,
            agent_env=env.recorded(),
            profiles=sorted(set(request.profiles)),
            isolation=surroundings.isolation,
            egress=surroundings.egress,
            setup_root=request.setup_root,
            no_setup=request.no_setup,
        ).model_copy(update=judge.conditions() if judge else {}),
        capture=request.capture,
        concurrency=request.concurrency,
        suite_timeout_seconds=request.suite_timeout_s,
        planned_at=clock.instant(started_at),
        cases=planned_cases(suite, cases, repeats=request.repeat),
    )
    return Draft(
        request=request, suite=suite, cases=cases, env=env, judge=judge, plan=plan, bases=surroundings.bases
    )


def with_images(plan: Plan, images: dict[str, ImageIdentity]) -> Plan:
    """The plan with the images that the preflight found."""
    return plan.model_copy(update={"images": images})


def _file_values(request: RunRequest, host_env: Mapping[str, str]) -> dict[str, str]:
    return read_env_values(request.env_from_file, host=host_env) if request.env_from_file else {}


def _agent_env(request: RunRequest, suite: Suite, agent: AgentPlan | None, host_env: Mapping[str, str]) -> AgentEnv:
    secret = suite.agents[agent.name].secret if agent else ()
    return resolve_agent_env(request.env, host=host_env, secret=secret, not_secret=request.not_secret)


def _refuse_missing_token(agent: AgentPlan, env: AgentEnv) -> None:
    if agent.auth and not env.values.get(agent.auth):
        raise missing_token(agent)


def _refuse_unbuilt_profiles(profiles: Sequence[str]) -> None:
    unbuilt = [profile for profile in profiles if profile in OWN_PROFILES]
    if unbuilt:
        raise LabError(
            ErrorCode.NOT_BUILT_YET,
            f"the profile {', '.join(unbuilt)} is not part of this version",
            expected="a profile that compose_files of the suite declare",
        )


def _run_id(request: RunRequest, started_at: datetime) -> str:
    if request.run_id is None:
        return new_run_id(started_at, clock.random_bytes(RANDOM_BYTES))
    return checked_run_id(request.run_id)
