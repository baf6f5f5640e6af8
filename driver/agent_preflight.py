"""What an agent needs before its first attempt: its program, and of docker-agent a key for every model's provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import is_scripted
from contracts.plan import Plan, Program
from contracts.suite.suite import Suite
from driver.agent_choice import ChosenAgent
from driver.agent_env import MODELS_GATEWAY
from driver.agent_file import AgentFile
from driver.agent_models import AnyOf, ModelUse, keys_of, missing_keys
from driver.agent_program import program_of_command, script_of_command
from driver.docker_agent_binary import binary_facts, find_binary
from driver.refusals import Refusals


@dataclass(frozen=True)
class ReadyAgent:
    """The program that will run the agent."""

    path: Path | None
    """Of docker-agent; None for a command, which says itself where its program is."""
    program: Program | None
    script: Program | None = None
    """See `contracts.plan.AgentPlan`, for both."""


def ready_agent(
    agent: ChosenAgent, plan: Plan, suite: Suite, *, agent_env: Mapping[str, str], host_env: Mapping[str, str]
) -> ReadyAgent | None:
    """The program of an agent that has one on this machine; None for every other, and where it comes from an image.

    Raises:
        LabError: with exit 4: DOCKER_AGENT_MISSING, KEY_MISSING, both at once.

    """
    if plan.agent.command is not None and plan.conditions.backend == "process":
        program = program_of_command(plan.agent, suite, path=agent_env.get("PATH", host_env.get("PATH")))
        return ReadyAgent(path=None, program=program, script=script_of_command(plan.agent, suite))
    if agent.file is None:
        return None
    file, checks = agent.file, Refusals()
    in_image = plan.conditions.backend == "compose" and plan.agent.binary_image is not None
    binary = None if in_image else checks.value_of(lambda: _binary(host_env))
    checks.value_of(lambda: _refuse_missing_keys(file, plan, agent_env))
    if checks.any:
        raise checks.as_one()
    return binary


def _binary(host_env: Mapping[str, str]) -> ReadyAgent:
    path = find_binary(host_env)
    return ReadyAgent(path=path, program=binary_facts(path, host_env=host_env))


def _refuse_missing_keys(file: AgentFile, plan: Plan, agent_env: Mapping[str, str]) -> bool:
    gateway = _has_gateway(plan.agent.args, agent_env)
    given = {name for name, value in agent_env.items() if value}
    missing = [one for one in missing_keys(file, given=given, gateway=gateway) if not is_scripted(one[0].name)]
    missing = [one for one in missing if not (plan.agent.overrides_model and one[0].place.endswith(".model"))]
    missing += _missing_of_override(file, plan, given, gateway=gateway)
    if not missing:
        return True
    keys = sorted({names[0] for _, names in missing})
    raise LabError(
        ErrorCode.KEY_MISSING,
        f"the agent would have no key for {', '.join(sorted({use.provider for use, _ in missing}))}",
        found=[Found(f"{use.name} needs {' or '.join(names)}", plan.agent.file, use.place) for use, names in missing],
        expected=f"the key in the environment of labctl, -e KEY, or a gateway in {MODELS_GATEWAY}",
        next_step=" ".join(f"-e {key}" for key in keys),
    )


def _has_gateway(args: tuple[str, ...], agent_env: Mapping[str, str]) -> bool:
    named = any(one.startswith("--models-gateway") for one in args)
    return named or any(agent_env.get(name) for name in (MODELS_GATEWAY, "CAGENT_MODELS_GATEWAY"))


def _missing_of_override(
    file: AgentFile, plan: Plan, given: set[str], *, gateway: bool
) -> list[tuple[ModelUse, AnyOf]]:
    if not plan.agent.overrides_model or is_scripted(plan.agent.model):
        return []
    provider, _, model = (plan.agent.model or "").partition("/")
    use = ModelUse(place="--model", provider=provider, model=model, definition=file.providers.get(provider, {}))
    needed = keys_of(use, file=file, gateway=gateway)
    return [(use, names) for names in needed if not any(name in given for name in names)]
