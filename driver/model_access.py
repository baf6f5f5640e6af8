"""Whether a model's service has the key that it will ask for: else it is refused before anything starts."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import Endpoint, is_scripted
from contracts.plan import AgentPlan


def require_model_access(agent: AgentPlan, *, values: Mapping[str, str]) -> None:
    """Raise LabError KEY_MISSING for a chat agent whose model's service would refuse it for want of a key.

    `values` are the variables that reach the agent.
    """
    if agent.adapter != "chat" or agent.model is None or is_scripted(agent.model):
        return
    endpoint = Endpoint(agent.model, url=agent.model_url, auth=agent.auth)
    require_key(endpoint, values=values, asker=f'the agent "{agent.name}"', flag="-e {name}")


def require_key(endpoint: Endpoint, *, values: Mapping[str, str], asker: str, flag: str) -> None:
    """Raise LabError KEY_MISSING when the endpoint needs a key and no variable has one."""
    if not endpoint.lacks_key(values):
        return
    names = endpoint.key_names
    raise LabError(
        ErrorCode.KEY_MISSING,
        f'{asker} asks the model "{endpoint.model}", and {" and ".join(names)} has no value'
        if len(names) == 1
        else f'{asker} asks the model "{endpoint.model}", and none of {", ".join(names)} has a value',
        found=[Found("is not set, or empty", place=name) for name in names],
        expected=f"{' or '.join(names)} in the environment of labctl, or in --env-from-file FILE",
        next_step=flag.format(name=names[0]),
    )
