"""Where a model outside of the lab is asked, and which variable holds the key for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

SCRIPTED = "scripted"
"""The provider of the models in models/, which the fixture API serves; every other one is outside."""


class ModelProvider(NamedTuple):
    """A provider of models: with `url` it speaks OpenAI's protocol there, else the library has it as `known_as`."""

    keys: tuple[str, ...]
    url: str | None = None
    known_as: str | None = None


PROVIDERS: Mapping[str, ModelProvider] = {
    "openai": ModelProvider(("OPENAI_API_KEY",), known_as="openai-chat"),
    "anthropic": ModelProvider(("ANTHROPIC_API_KEY",), known_as="anthropic"),
    "google": ModelProvider(
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"), url="https://generativelanguage.googleapis.com/v1beta/openai"
    ),
    "mistral": ModelProvider(("MISTRAL_API_KEY",), url="https://api.mistral.ai/v1"),
    "xai": ModelProvider(("XAI_API_KEY",), url="https://api.x.ai/v1"),
    "groq": ModelProvider(("GROQ_API_KEY",), url="https://api.groq.com/openai/v1"),
    "nvidia": ModelProvider(("NVIDIA_API_KEY",), url="https://integrate.api.nvidia.com/v1"),
    "huggingface": ModelProvider(("HF_TOKEN",), url="https://router.huggingface.co/v1"),
    "openrouter": ModelProvider(("OPENROUTER_API_KEY",), known_as="openrouter"),
    "deepseek": ModelProvider(("DEEPSEEK_API_KEY",), known_as="deepseek"),
    "cerebras": ModelProvider(("CEREBRAS_API_KEY",), known_as="cerebras"),
    "fireworks": ModelProvider(("FIREWORKS_API_KEY",), known_as="fireworks"),
    "together": ModelProvider(("TOGETHER_API_KEY",), known_as="together"),
    "moonshot": ModelProvider(("MOONSHOT_API_KEY",), known_as="moonshotai"),
    "nebius": ModelProvider(("NEBIUS_API_KEY",), known_as="nebius"),
    "ovhcloud": ModelProvider(("OVH_AI_ENDPOINTS_ACCESS_TOKEN",), known_as="ovhcloud"),
    "ovh": ModelProvider(("OVH_AI_ENDPOINTS_ACCESS_TOKEN",), known_as="ovhcloud"),
}
"""The providers that are reached by name alone; any other one is reached by its URL."""


def is_scripted(model: str | None) -> bool:
    """Whether the fixture API serves it, or all of several with commas between; a model that nobody names is not."""
    return model is not None and all(one.strip().startswith(f"{SCRIPTED}/") for one in model.split(","))


@dataclass(frozen=True)
class Endpoint:
    """A model as it is asked."""

    model: str
    """`provider/model`."""
    url: str | None = None
    """Of an endpoint that speaks OpenAI's protocol; None: the provider's own."""
    auth: str | None = None
    """The variable that holds the key; None: the provider's own."""

    @property
    def provider(self) -> str:
        """The part before the first slash."""
        return self.model.partition("/")[0]

    @property
    def is_known(self) -> bool:
        """Whether it can be reached: by its URL, or as a provider of the list."""
        return self.url is not None or self.provider in PROVIDERS

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that may hold its key, the first one that is set counts; empty: none is known."""
        if self.auth is not None:
            return (self.auth,)
        return PROVIDERS[self.provider].keys if self.provider in PROVIDERS else ()

    def key(self, values: Mapping[str, str]) -> str | None:
        """The key for it among variables."""
        return next((values[name] for name in self.key_names if values.get(name)), None)

    def lacks_key(self, values: Mapping[str, str]) -> bool:
        """Whether a key is needed and not there; an endpoint of one's own needs one only where `auth` says so."""
        is_needed = self.url is None or self.auth is not None
        return is_needed and self.key(values) is None
