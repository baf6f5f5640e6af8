"""Which class of the client library speaks to an endpoint."""

from __future__ import annotations

from typing import Any

from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from contracts.model_endpoint import PROVIDERS, Endpoint
from providers.bounded_http import bounded_client

NO_KEY = "none"
"""Sent where an endpoint of one's own needs no key; the client libraries refuse to send none."""
_OPENAI_URL = "https://api.openai.com/v1"
_ANTHROPIC_URL = "https://api.anthropic.com"


def library_model(endpoint: Endpoint, *, key: str | None) -> Model[Any]:
    """The model, without any request made; addresses are never taken from this process's environment."""
    provider, _, name = endpoint.model.partition("/")
    url = endpoint.url or (PROVIDERS[provider].url if provider in PROVIDERS else None)
    if url is not None:
        return _compatible(provider, name, url=url, key=key or NO_KEY)
    known_as = PROVIDERS[provider].known_as or provider
    return infer_model(f"{known_as}:{name}", provider_factory=lambda _: _own_provider(known_as, key=key or NO_KEY))


def _compatible(provider: str, name: str, *, url: str, key: str) -> Model[Any]:
    if provider == "openai":
        return OpenAIChatModel(name, provider=OpenAIProvider(base_url=url, api_key=key, http_client=bounded_client()))
    return OpenAIChatModel(
        name,
        provider=OpenAICompatibleProvider(provider, base_url=url, api_key=key, http_client=bounded_client()),
        # the older name, which servers that only resemble OpenAI's know
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
    )


def _own_provider(known_as: str, *, key: str) -> Provider[Any]:
    if known_as == "openai-chat":
        return OpenAIProvider(base_url=_OPENAI_URL, api_key=key, http_client=bounded_client())
    if known_as == "anthropic":
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - loads a library of its own

        return AnthropicProvider(base_url=_ANTHROPIC_URL, api_key=key, http_client=bounded_client())
    return infer_provider_class(known_as)(api_key=key)
