"""Whether the agent's model can be asked at all: a way out of the closed network, and a key."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import Endpoint, is_scripted
from contracts.plan import AgentPlan, Conditions


def require_model_access(agent: AgentPlan, conditions: Conditions, *, values: Mapping[str, str]) -> None:
    """Pass, or say before anything starts why no request to the agent's model would be answered.

    `values` are the variables that reach the agent.

    Raises:
        LabError: MODEL_OUT_OF_REACH on Compose without egress, KEY_MISSING for a chat agent's key.

    """
    if agent.model is None or is_scripted(agent.model):
        return
    endpoint = Endpoint(agent.model, url=agent.model_url, auth=agent.auth)
    if conditions.backend == "compose" and not conditions.egress and not _is_a_service(endpoint.url):
        raise LabError(
            ErrorCode.MODEL_OUT_OF_REACH,
            f'the model "{agent.model}" of the agent "{agent.name}" is outside, and the stack\'s networks are closed',
            found=[Found(endpoint.url or f"the service of {endpoint.provider}", place=f"agents.{agent.name}")],
            expected="a scripted model, a model that a service of the stack serves, or a way out",
            next_step="labctl run --backend process",
        )
    if agent.adapter == "chat":
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


def _is_a_service(url: str | None) -> bool:
    """Whether a URL names a service of the stack: the name of one has no dot."""
    host = (urlsplit(url).hostname or "") if url else ""
    return bool(host) and "." not in host and ":" not in host and host != "localhost"
