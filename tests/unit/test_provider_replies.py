"""From the library's response to a reply: tokens and prices only where somebody told them."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from contracts.model_endpoint import PROVIDERS, Endpoint
from providers.library_models import library_model
from providers.replies import reply_of

USAGE = RequestUsage(input_tokens=1_000_000, output_tokens=1_000_000)


def response(model: str = "gpt-4o", *, usage: RequestUsage = USAGE, **fields: object) -> ModelResponse:
    parts = [ThinkingPart("hm"), TextPart("a"), ToolCallPart("look", {"x": 1}, tool_call_id="1"), TextPart("b\ud800")]
    return ModelResponse(parts=parts, usage=usage, model_name=model, provider_name="openai", **fields)


def test_texts_are_joined_thoughts_left_out_and_half_characters_replaced() -> None:
    reply = reply_of(response(), is_priced=False)
    assert reply.text == "ab?"
    assert [(call.name, call.arguments, call.written) for call in reply.calls] == [("look", {"x": 1}, '{"x":1}')]


def test_a_price_is_the_librarys_or_absent() -> None:
    assert (reply_of(response(), is_priced=True).cost_usd or 0) > 1
    assert reply_of(response("a-model-nobody-knows"), is_priced=True).cost_usd is None
    assert reply_of(response(), is_priced=False).cost_usd is None


def test_tokens_that_nobody_told_are_absent() -> None:
    reply = reply_of(response(usage=RequestUsage()), is_priced=True)
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (None, None, None)


def test_an_answer_that_ran_into_its_limit_says_so() -> None:
    assert reply_of(response(finish_reason="length"), is_priced=False).is_cut
    assert not reply_of(response(finish_reason="stop"), is_priced=False).is_cut


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_of_the_list_is_one_that_the_library_can_ask(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://elsewhere.example")
    name = "openai/some" if provider == "openrouter" else "some"
    model = library_model(Endpoint(f"{provider}/{name}"), key="a-key")
    assert model.model_name == name
    assert str(model.base_url).startswith("https://")
    assert "elsewhere" not in str(model.base_url)
