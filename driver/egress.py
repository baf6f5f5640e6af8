"""Whether a run may go out of its closed networks, and the refusal where its model is outside and it may not."""

from __future__ import annotations

from urllib.parse import urlsplit

from contracts.agent_resolution import SCRIPTED
from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import AgentPlan, Backend


def decide_egress(agent: AgentPlan, *, asked: bool, declared: bool, model_url: str | None, backend: Backend) -> bool:
    """True where `--egress` asks for it or the agent declares it; the process backend has no closed network.

    Raises:
        LabError: EGRESS_MISSING, naming the model, where it could not be reached.

    """
    is_open = asked or declared
    if not is_open and backend == "compose" and _is_outside(agent, model_url):
        raise LabError(
            ErrorCode.EGRESS_MISSING,
            f'the model "{agent.model}" of the agent "{agent.name}" is outside, and its network is closed',
            found=[Found("neither --egress nor egress = true", place=f"agents.{agent.name}")],
            expected="a scripted model, a model_url inside the stack, or egress",
            next_step=f"--egress, or egress = true in [agents.{agent.name}]",
        )
    return is_open


def _is_outside(agent: AgentPlan, model_url: str | None) -> bool:
    if agent.model is None or agent.model.startswith(f"{SCRIPTED}/"):
        return False
    # a service of the stack has a name of one word
    return model_url is None or "." in (urlsplit(model_url).hostname or ".")
