"""How an end by a limit is said."""

from __future__ import annotations

from contracts.suite.settings import Limits
from runner.agents.interface import Ending, EndKind


def passed_limit(name: str, *, limits: Limits) -> Ending:
    """The ending of a run that passed `seconds`, `output`, `tool_calls`, `model_calls` or `cost`."""
    texts = {
        "seconds": f"{limits.seconds:g} s",
        "output": f"{limits.output_bytes} bytes of output",
        "tool_calls": f"{limits.tool_calls} tool calls",
        "model_calls": f"{limits.model_calls} model calls",
        "cost": f"{limits.cost_usd} USD",
    }
    return Ending(kind=EndKind.LIMIT, reason=f"it went past its limit of {texts[name]}", limit=name)
