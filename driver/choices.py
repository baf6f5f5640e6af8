"""What the flags choose in a suite: cases, agent, its variables, the run's name; all that is wrong is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from contracts.agent_resolution import missing_token
from contracts.plan import AgentPlan
from contracts.planning import select_cases
from contracts.suite.kept_cases import KeptCases
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from driver import clock
from driver.agent_choice import ChosenAgent, Fetch, choose_agent
from driver.agent_env import MODELS_GATEWAY, AgentEnv, resolve_agent_env
from driver.env_file import read_env_values
from driver.fault_reach import refuse_faults_of
from driver.jobs import profiles_of
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.secret_values import held_secrets, looks_secret
from ledger.run_id import RANDOM_BYTES, checked_run_id, new_run_id


@dataclass(frozen=True)
class Choices:
    """What was chosen; nothing was looked at but the suite and the agent's files."""

    suite: Suite
    cases: KeptCases
    agent: ChosenAgent
    env: AgentEnv
    profiles: tuple[str, ...]
    """By name or by job, each once, in order."""
    values: Mapping[str, str]
    """The host's, over them those of `--env-from-file`, over both an explicit `-e KEY=VALUE`: what a judge is asked
    with."""
    held: Mapping[str, str]
    """Values that look secret among labctl's own environment and those of `--env-from-file`, whoever they are for."""
    run_id: str
    started_at: datetime


def choose(request: RunRequest, *, host_env: Mapping[str, str], fetch: Fetch) -> Choices:
    """Read the suite and apply the flags; `fetch` gets an agent out of a registry. Raises LabError for all at once."""
    suite = load_suite(request.suite)
    flags = Refusals()
    file_values = flags.value_of(lambda: _file_values(request, host_env))
    held = _held(request, host_env, file_values or {})
    host_env = {**host_env, **(file_values or {})}
    cases = flags.value_of(lambda: select_cases(suite, case_ids=request.case_ids, only=request.only))
    agent = flags.value_of(lambda: choose_agent(suite, request, fetch=fetch))
    env = flags.value_of(lambda: _agent_env(request, suite, agent, host_env))
    if agent is not None and env is not None:
        flags.value_of(lambda: _refuse_missing_token(agent.plan, env))
    profiles = flags.value_of(lambda: _profiles(request, suite))
    if agent is not None and cases is not None and profiles is not None:
        flags.value_of(lambda: refuse_faults_of(agent, cases, profiles=profiles))
    started_at = clock.now()
    run_id = flags.value_of(lambda: _run_id(request, started_at))
    if flags.any or cases is None or agent is None or env is None or profiles is None or run_id is None:
        raise flags.as_one()
    values = {**host_env, **env.values}  # the agent's differ from the host's, with the file's, only where -e says so
    return Choices(
        suite=suite,
        cases=cases,
        agent=agent,
        env=env,
        profiles=profiles,
        values=values,
        held=held,
        run_id=run_id,
        started_at=started_at,
    )


def _file_values(request: RunRequest, host_env: Mapping[str, str]) -> dict[str, str]:
    return read_env_values(request.env_from_file, host=host_env) if request.env_from_file else {}


def _held(request: RunRequest, host_env: Mapping[str, str], file_values: Mapping[str, str]) -> dict[str, str]:
    """By names that no variable has: the same one may be another value for the agent."""
    of_file = {f"file:{name}": value for name, value in file_values.items() if looks_secret(name, value)}
    held = of_file | held_secrets(host_env)
    return {name: value for name, value in held.items() if name.partition(":")[2] not in request.not_secret}


def _agent_env(request: RunRequest, suite: Suite, agent: ChosenAgent | None, host_env: Mapping[str, str]) -> AgentEnv:
    declared = suite.agents.get(agent.plan.name) if agent else None
    secret = declared.secret if declared else ()
    secret = (*secret, agent.plan.auth) if agent is not None and agent.plan.auth else secret
    named, not_secret = request.env, request.not_secret
    if agent is not None and agent.plan.adapter == "docker-agent" and host_env.get(MODELS_GATEWAY):
        named = (MODELS_GATEWAY, *named)  # an explicit one comes later and wins
        # an address may hold a password
        not_secret = not_secret if "@" in host_env[MODELS_GATEWAY] else (*not_secret, MODELS_GATEWAY)
    return resolve_agent_env(named, host=host_env, secret=secret, not_secret=not_secret)


def _refuse_missing_token(agent: AgentPlan, env: AgentEnv) -> None:
    if agent.adapter == "http" and agent.auth and not env.values.get(agent.auth):
        raise missing_token(agent)


def _profiles(request: RunRequest, suite: Suite) -> tuple[str, ...]:
    return tuple(sorted(set(profiles_of(suite, job=request.job, profiles=request.profiles))))


def _run_id(request: RunRequest, started_at: datetime) -> str:
    if request.run_id is None:
        return new_run_id(started_at, clock.random_bytes(RANDOM_BYTES))
    return checked_run_id(request.run_id)
