"""What an attempt may do beside its calls, and how an end by a limit is said."""

from __future__ import annotations

from contracts.suite.settings import Limits
from runner.agents.interface import Ending, EndKind


def most_other_requests(limits: Limits) -> int:
    """How many requests an attempt may make that call neither tool nor model: pages, the world's own list of models.

    It only keeps a flood out of the fixture API's memory, so no agent that works comes near it.
    """
    return 10 * limits.tool_calls + 100


def passed_limit(name: str, *, limits: Limits) -> Ending:
    """The ending of a run that passed `seconds`, `output`, `tool_calls`, `model_calls`, `requests` or `cost`."""
    texts = {
        "seconds": f"{limits.seconds:g} s",
        "output": f"{limits.output_bytes} bytes of output",
        "tool_calls": f"{limits.tool_calls} tool calls",
        "model_calls": f"{limits.model_calls} model calls",
        "requests": f"{most_other_requests(limits)} requests beside its tool and model calls",
        "cost": f"{limits.cost_usd} USD",
    }
    return Ending(kind=EndKind.LIMIT, reason=f"it went past its limit of {texts[name]}", limit=name)
