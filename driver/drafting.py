"""From flags to a plan: reads the suite, applies the flags, decides every condition, starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from contracts.plan import Backend, ImageIdentity, Plan, Program
from contracts.planning import conditions_of, effective_limits, planned_cases, select_cases
from contracts.suite.case import Case
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from driver import clock
from driver.agent_choice import ChosenAgent, Fetch, choose_agent
from driver.agent_env import MODELS_GATEWAY, AgentEnv, resolve_agent_env
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.version import VERSION
from ledger.run_id import RANDOM_BYTES, checked_run_id, new_run_id


@dataclass(frozen=True)
class Draft:
    """Everything that was decided without looking at the engine."""

    request: RunRequest
    suite: Suite
    cases: tuple[Case, ...]
    agent: ChosenAgent
    env: AgentEnv
    plan: Plan
    """Complete but for the images."""


def draft_run(request: RunRequest, *, backend: Backend, host_env: Mapping[str, str], fetch: Fetch) -> Draft:
    """Read the suite and decide the plan; `fetch` gets an agent out of a registry.

    Raises:
        LabError: with exit 2 for everything that the flags, the suite or an agent file have wrong; see
            `contracts.planning` and `driver.agent_choice`; with exit 4 for an agent that cannot be fetched.

    """
    suite = load_suite(request.suite)
    flags = Refusals()
    cases = flags.value_of(lambda: select_cases(suite, case_ids=request.case_ids, only=request.only))
    agent = flags.value_of(lambda: choose_agent(suite, request, fetch=fetch))
    env = flags.value_of(lambda: _agent_env(request, suite, agent, host_env))
    started_at = clock.now()
    run_id = flags.value_of(lambda: _run_id(request, started_at))
    if cases is None or agent is None or env is None or run_id is None:
        raise flags.as_one()
    conditions = conditions_of(
        suite,
        agent.plan,
        backend=backend,
        seed=request.seed,
        limits=effective_limits(suite.settings.limits, timeout=request.timeout_s),
        agent_env=env.recorded(),
    )
    plan = Plan(
        run_id=run_id,
        labctl=VERSION,
        command=request.command,
        suite=str(request.suite),
        agent=agent.plan,
        conditions=agent.conditions(conditions, suite),
        capture=request.capture,
        concurrency=request.concurrency,
        planned_at=clock.instant(started_at),
        cases=planned_cases(suite, cases, repeats=request.repeat),
    )
    return Draft(request=request, suite=suite, cases=cases, agent=agent, env=env, plan=plan)


def with_preflight(plan: Plan, images: dict[str, ImageIdentity], *, program: Program | None) -> Plan:
    """The plan with the images and the agent's program that the preflight found."""
    agent = plan.agent.model_copy(update={"binary": program})
    return plan.model_copy(update={"images": images, "agent": agent})


def _agent_env(request: RunRequest, suite: Suite, agent: ChosenAgent | None, host_env: Mapping[str, str]) -> AgentEnv:
    declared = suite.agents.get(agent.plan.name) if agent else None
    secret = declared.secret if declared else ()
    named, not_secret = request.env, request.not_secret
    if agent is not None and agent.plan.adapter == "docker-agent" and host_env.get(MODELS_GATEWAY):
        named = (MODELS_GATEWAY, *named)  # an explicit one comes later and wins
        # an address may hold a password
        not_secret = not_secret if "@" in host_env[MODELS_GATEWAY] else (*not_secret, MODELS_GATEWAY)
    return resolve_agent_env(named, host=host_env, secret=secret, not_secret=not_secret)


def _run_id(request: RunRequest, started_at: datetime) -> str:
    if request.run_id is None:
        return new_run_id(started_at, clock.random_bytes(RANDOM_BYTES))
    return checked_run_id(request.run_id)
