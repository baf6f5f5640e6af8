"""Whether a run may go out of its closed networks, and the refusal where its model is outside and it may not."""

from __future__ import annotations

from urllib.parse import urlsplit

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import is_scripted
from contracts.plan import AgentPlan, Backend


def decide_egress(agent: AgentPlan, *, asked: bool, declared: bool, backend: Backend) -> bool:
    """True where `--egress` asks for it or the agent declares it; the process backend has no closed network.

    Raises:
        LabError: EGRESS_MISSING, naming the model, where it could not be reached.

    """
    is_open = asked or declared
    if not is_open and backend == "compose" and _is_outside(agent):
        raise LabError(
            ErrorCode.EGRESS_MISSING,
            f'the model "{agent.model}" of the agent "{agent.name}" is outside, and its network is closed',
            found=[Found(agent.model_url or "no --egress and no egress = true", place=f"agents.{agent.name}")],
            expected="a scripted model, a model_url inside the stack, or egress",
            next_step=f"--egress, or egress = true in [agents.{agent.name}]",
        )
    return is_open


def _is_outside(agent: AgentPlan) -> bool:
    return agent.model is not None and not is_scripted(agent.model) and not _is_a_service(agent.model_url)


def _is_a_service(url: str | None) -> bool:
    """Whether a URL names a service of the stack: the name of one has no dot."""
    host = (urlsplit(url).hostname or "") if url else ""
    return bool(host) and "." not in host and ":" not in host and host != "localhost"
