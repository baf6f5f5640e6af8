"""Whether a run may go out of its closed networks, and the refusal where its model is outside and it may not."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import is_scripted
from contracts.plan import AgentPlan, Backend


def decide_egress(
    agent: AgentPlan, *, asked: bool, declared: bool, backend: Backend, outside: Sequence[Found] | None = None
) -> bool:
    """True where `--egress` asks for it or the agent declares it; the process backend has no closed network.

    Args:
        agent: the agent of the run.
        asked: by `--egress`.
        declared: by the agent's own table.
        backend: where it runs.
        outside: the models outside of an agent that has a file of its own; None: `agent` says what its model is.

    Raises:
        LabError: EGRESS_MISSING, naming the models, where one could not be reached.

    """
    is_open = asked or declared
    found = _own_outside(agent) if outside is None else tuple(outside)
    if not is_open and backend == "compose" and found:
        raise LabError(
            ErrorCode.EGRESS_MISSING,
            f'{_what(agent, outside)} of the agent "{agent.name}" is outside, and its network is closed',
            found=found,
            expected="a scripted model, a model_url or base_url inside the stack, or egress",
            next_step=f"--egress, or egress = true in [agents.{agent.name}]",
        )
    return is_open


def _what(agent: AgentPlan, outside: Sequence[Found] | None) -> str:
    return f'the model "{agent.model}"' if outside is None else "a model"


def _own_outside(agent: AgentPlan) -> tuple[Found, ...]:
    if agent.model is None or is_scripted(agent.model) or is_a_service(agent.model_url):
        return ()
    return (Found(agent.model_url or "no --egress and no egress = true", place=f"agents.{agent.name}"),)


def is_a_service(url: str | None) -> bool:
    """Whether a URL names a service of the stack: the name of one has no dot."""
    host = (urlsplit(url).hostname or "") if url else ""
    return bool(host) and "." not in host and ":" not in host and host != "localhost"
