"""Which models an agent file uses, and which keys of their providers the agent must have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from contracts.record import Json
from driver.agent_file import AgentFile

AnyOf = tuple[str, ...]
"""Names of variables of which one must be there."""

KEYS: Mapping[str, tuple[AnyOf, ...]] = {
    "openai": (("OPENAI_API_KEY",),),
    "anthropic": (("ANTHROPIC_API_KEY",),),
    "google": (("GOOGLE_API_KEY", "GEMINI_API_KEY"),),
    "amazon-bedrock": (
        ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
    ),
    "mistral": (("MISTRAL_API_KEY",),),
    "xai": (("XAI_API_KEY",),),
    "nebius": (("NEBIUS_API_KEY",),),
    "nvidia": (("NVIDIA_API_KEY",),),
    "minimax": (("MINIMAX_API_KEY",),),
    "baseten": (("BASETEN_API_KEY",),),
    "ovhcloud": (("OVH_AI_ENDPOINTS_ACCESS_TOKEN",),),
    "groq": (("GROQ_API_KEY",),),
    "fireworks": (("FIREWORKS_API_KEY",),),
    "deepseek": (("DEEPSEEK_API_KEY",),),
    "cerebras": (("CEREBRAS_API_KEY",),),
    "together": (("TOGETHER_API_KEY",),),
    "huggingface": (("HF_TOKEN",),),
    "moonshot": (("MOONSHOT_API_KEY",),),
    "openrouter": (("OPENROUTER_API_KEY",),),
    "azure": (("AZURE_API_KEY",),),
    "vercel": (("AI_GATEWAY_API_KEY",),),
    "requesty": (("REQUESTY_API_KEY",),),
    "atlascloud": (("ATLASCLOUD_API_KEY",),),
    "opencode-zen": (("OPENCODE_API_KEY",),),
    "opencode-go": (("OPENCODE_API_KEY",),),
    "cloudflare-workers-ai": (("CLOUDFLARE_API_TOKEN",), ("CLOUDFLARE_ACCOUNT_ID",)),
    "cloudflare-ai-gateway": (("CLOUDFLARE_API_TOKEN",), ("CLOUDFLARE_ACCOUNT_ID",), ("CLOUDFLARE_GATEWAY_ID",)),
    "github-copilot": (("GITHUB_TOKEN", "GH_TOKEN"),),
}
"""Provider -> what it needs, all of it. A provider that is not here (dmr, ollama, an own one) needs nothing."""


@dataclass(frozen=True)
class ModelUse:
    """A model that the file uses, with what its definition and its provider's say together."""

    place: str
    """Key of the agent file."""
    provider: str
    model: str
    definition: Mapping[str, Json]

    @property
    def name(self) -> str:
        """provider/model."""
        return f"{self.provider}/{self.model}"


def models_used(file: AgentFile) -> Iterator[ModelUse]:
    """Every model that one of the agents needs: its own, those that it routes to, and the one that compacts."""
    for name, agent in file.agents.items():
        for key in ("model", "compaction_model"):
            for reference in _listed(agent.get(key)):
                yield from _resolved(file, reference, place=f"agents.{name}.{key}")


def main_models(file: AgentFile, *, agent: str) -> list[ModelUse]:
    """The agent's own, in the order in which it lists them; empty when docker-agent chooses."""
    references = _listed(file.agents[agent].get("model"))
    found = [next(_resolved(file, one, place=f"agents.{agent}.model"), None) for one in references]
    return [use for use in found if use is not None]


def places_of_choice(file: AgentFile) -> Iterator[str]:
    """Keys of agents whose model docker-agent chooses: none is named, `auto`, or one that is the first available."""
    for name, agent in file.agents.items():
        for key in ("model", "compaction_model"):
            names = _parts(agent.get(key))
            is_none = key == "model" and not names
            if is_none or any(name == "auto" or _is_a_choice(file.models.get(name)) for name in names):
                yield f"agents.{name}.{key}"


def _is_a_choice(definition: Mapping[str, Json] | None) -> bool:
    return definition is not None and not definition.get("provider")


def _parts(references: Json) -> list[str]:
    names = references.split(",") if isinstance(references, str) else []
    return [name.strip() for name in names if name.strip()]


def _listed(references: Json) -> list[str]:
    return [name for name in _parts(references) if name != "auto"]


def _resolved(file: AgentFile, reference: str, *, place: str) -> Iterator[ModelUse]:
    """A named model with its routes, or `provider/model`; nothing for a choice that docker-agent makes by its keys."""
    definition = file.models.get(reference)
    if definition is None:
        provider, slash, model = reference.partition("/")
        if slash:
            yield _use(file, provider, model, {}, place=place)
        return
    if isinstance(definition.get("provider"), str):
        yield _use(file, definition["provider"], str(definition.get("model", "")), definition, place=place)
    routes = definition.get("routing")
    for route in routes if isinstance(routes, list) else ():
        target = route.get("model") if isinstance(route, dict) else None
        if isinstance(target, str) and target != reference and not file.models.get(target, {}).get("routing"):
            yield from _resolved(file, target, place=f"models.{reference}.routing")


def _use(file: AgentFile, provider: str, model: str, definition: Mapping[str, Json], *, place: str) -> ModelUse:
    merged = {**file.providers.get(provider, {}), **definition}
    return ModelUse(place=place, provider=provider, model=model, definition=merged)


def keys_of(use: ModelUse, *, file: AgentFile, gateway: bool) -> tuple[AnyOf, ...]:
    """The variables that the model needs; with a models gateway only those of models that go past it."""
    definition = use.definition
    goes_past = bool(definition.get("base_url") or definition.get("bypass_models_gateway"))
    if (gateway and not goes_past) or definition.get("auth"):
        return ()
    if isinstance(definition.get("token_key"), str):
        return ((definition["token_key"],),)
    if definition.get("base_url"):
        return ()
    own = file.providers.get(use.provider)
    provider = use.provider if own is None else own.get("provider") or "openai"
    options = definition.get("provider_opts")
    if provider == "google" and isinstance(options, dict) and options.get("project"):
        return ()  # Vertex AI: credentials of a cloud account
    return KEYS.get(str(provider), ())


def missing_keys(file: AgentFile, *, given: Collection[str], gateway: bool) -> list[tuple[ModelUse, AnyOf]]:
    """The models that would have no key, each with the variables of which one is needed."""
    return [
        (use, names)
        for use in models_used(file)
        for names in keys_of(use, file=file, gateway=gateway)
        if not any(name in given for name in names)
    ]
