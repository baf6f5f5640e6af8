"""Which models of an agent file lie outside of the closed network that a run on Compose has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from contracts.errors import Found
from contracts.model_endpoint import is_scripted
from contracts.plan import AgentPlan
from driver.agent_env import MODELS_GATEWAY
from driver.agent_file import AgentFile
from driver.agent_models import ModelUse, models_used, places_of_choice
from driver.egress import is_a_service

_REFERENCE = re.compile(r"\$\{env\.(\w+)\}")
_OF_THE_LAB = "MODEL_URL"


def models_outside(file: AgentFile, plan: AgentPlan, *, env: Mapping[str, str]) -> tuple[Found, ...]:
    """Every model of every agent that is reached by no service of the stack, with the key that names it.

    One that docker-agent chooses itself counts: nobody knows which it will be.

    Args:
        file: the agent file.
        plan: the agent; a model that it overrides stands for those of all agents of the file.
        env: the variables that reach the agent.

    """
    if plan.overrides_model:
        agents = {name: {**agent, "model": plan.model} for name, agent in file.agents.items()}
        file = replace(file, document={**file.document, "agents": agents})
    shown = plan.file
    chosen = [Found("docker-agent chooses the model by the keys it has", shown, one) for one in places_of_choice(file)]
    outside = [use for use in models_used(file) if not _is_inside(use, plan, env)]
    return (*chosen, *(Found(f'"{use.name}"', shown, use.place) for use in outside))


def _is_inside(use: ModelUse, plan: AgentPlan, env: Mapping[str, str]) -> bool:
    url = use.definition.get("base_url")
    if isinstance(url, str) and url:
        own = plan.model_url if plan.model and not is_scripted(plan.model) else None
        known = {**env, _OF_THE_LAB: own or "http://fixture-api"}
        return is_a_service(_REFERENCE.sub(lambda found: known.get(found[1], ""), url))
    if env.get(MODELS_GATEWAY) and not use.definition.get("bypass_models_gateway"):
        return is_a_service(env[MODELS_GATEWAY])
    return is_scripted(use.name)
