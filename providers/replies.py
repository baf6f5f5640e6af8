"""From the client library's response to a reply of ours."""

from __future__ import annotations

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

from contracts.json_text import without_surrogates
from providers.conversation import Reply, ToolCall, object_of


def reply_of(response: ModelResponse, *, is_priced: bool) -> Reply:
    """What was said and asked for; tokens and cost only where they were told.

    `is_priced` allows the library's list prices: at an endpoint of one's own a model of a known name may cost anything.
    """
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    usage = response.usage
    is_measured = bool(usage.input_tokens or usage.output_tokens) and not usage.unmeasured_requests
    return Reply(
        text=without_surrogates("".join(texts)) or None,
        calls=tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart)),
        input_tokens=usage.input_tokens if is_measured else None,
        output_tokens=usage.output_tokens if is_measured else None,
        cost_usd=_cost(response) if is_priced and is_measured else None,
        is_cut=response.finish_reason == "length",
    )


def _call(part: ToolCallPart) -> ToolCall:
    # the library's own reading makes JSON of what is none, and would hide it
    written = without_surrogates(part.args if isinstance(part.args, str) else part.args_as_json_str())
    return ToolCall(
        id=part.tool_call_id, name=without_surrogates(part.tool_name), arguments=object_of(written), written=written
    )


def _cost(response: ModelResponse) -> float | None:
    """The list price, or None where the library has none for this model."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
