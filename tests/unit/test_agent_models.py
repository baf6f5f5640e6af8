"""Which models an agent file uses and which keys these need: one table, a row for each provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.model_endpoint import PROVIDERS
from driver.agent_env import PROVIDER_KEYS
from driver.agent_file import AgentFile
from driver.agent_models import KEYS, main_models, missing_keys, models_used
from driver.yaml_values import read_yaml


def file_of(text: str) -> AgentFile:
    return AgentFile(path=Path("agent.yaml"), text=text, document=read_yaml(text))


def missing(text: str, *, given: tuple[str, ...] = (), gateway: bool = False) -> list[str]:
    return [" or ".join(names) for _, names in missing_keys(file_of(text), given=given, gateway=gateway)]


def agent(model: str, more: str = "") -> str:
    return f"agents:\n  root:\n    model: {model}\n{more}"


@pytest.mark.parametrize("provider", sorted(KEYS))
def test_a_provider_of_the_table_needs_what_the_table_says_and_no_more(provider: str) -> None:
    groups = KEYS[provider]
    assert missing(agent(f"{provider}/m")) == [" or ".join(group) for group in groups]
    for given in groups[0]:
        rest = tuple(group[-1] for group in groups[1:])
        assert missing(agent(f"{provider}/m"), given=(given, *rest)) == []
    assert missing(agent(f"{provider}/m"), gateway=True) == []


def test_every_key_of_the_table_is_forwarded_unasked_but_those_that_open_more_than_a_model() -> None:
    asked_for = {name for groups in KEYS.values() for names in groups for name in names}
    unasked = {name for name in asked_for if name in {"GITHUB_TOKEN", "GH_TOKEN"} or name.startswith("AWS_")}
    assert asked_for - set(PROVIDER_KEYS) == unasked


def test_a_provider_has_the_same_name_and_key_for_the_chat_loop_and_in_an_agent_file() -> None:
    for name, provider in PROVIDERS.items():
        if name != "ovh":  # the chat loop's other name for ovhcloud
            assert KEYS[name] == (provider.keys,)
    assert PROVIDERS["ovh"] == PROVIDERS["ovhcloud"]


@pytest.mark.parametrize("model", ["dmr/ai/qwen3", "ollama/qwen3", "mock/scripted", "scripted/support", "auto"])
def test_local_own_and_chosen_models_need_none(model: str) -> None:
    assert missing(agent(model)) == []


@pytest.mark.parametrize(
    ("more", "keys"),
    [
        ("models: {m: {provider: openai, model: x}}", ["OPENAI_API_KEY"]),
        ("models: {m: {provider: openai, model: x, token_key: MINE}}", ["MINE"]),
        ('models: {m: {provider: openai, model: x, base_url: "http://x"}}', []),
        ('models: {m: {provider: openai, model: x, base_url: "http://x", token_key: MINE}}', ["MINE"]),
        ("models: {m: {provider: p, model: x}}\nproviders: {p: {token_key: THEIRS}}", ["THEIRS"]),
        ('models: {m: {provider: p, model: x}}\nproviders: {p: {base_url: "http://x"}}', []),
        ("models: {m: {provider: p, model: x}}\nproviders: {p: {provider: anthropic}}", ["ANTHROPIC_API_KEY"]),
        ("models: {m: {provider: p, model: x}}\nproviders: {p: {temperature: 1}}", ["OPENAI_API_KEY"]),
        ("models: {m: {provider: anthropic, model: x, auth: {type: federation}}}", []),
        ("models: {m: {provider: google, model: x, provider_opts: {project: p}}}", []),
        ("models: {m: {first_available: [openai/x, anthropic/y]}}", []),
        (
            "models: {m: {provider: openai, model: x, routing: [{model: n}, {model: xai/y}]}, n: {provider: groq}}",
            ["OPENAI_API_KEY", "GROQ_API_KEY", "XAI_API_KEY"],
        ),
    ],
)
def test_a_named_model_needs_what_it_and_its_provider_say(more: str, keys: list[str]) -> None:
    assert missing(agent("m", more)) == keys


def test_a_gateway_stands_for_the_keys_but_not_of_models_that_go_past_it() -> None:
    more = 'models: {m: {provider: openai, model: x, base_url: "http://x", token_key: MINE}}'
    assert missing(agent("m", more), gateway=True) == ["MINE"]
    past = "models: {m: {provider: openai, model: x, bypass_models_gateway: true}}"
    assert missing(agent("m", past), gateway=True) == ["OPENAI_API_KEY"]


def test_every_agent_and_the_model_that_compacts_counts() -> None:
    text = "agents:\n  a: {model: 'openai/x, xai/y'}\n  b: {model: groq/z, compaction_model: mistral/w}\n"
    assert [use.name for use in models_used(file_of(text))] == ["openai/x", "xai/y", "groq/z", "mistral/w"]
    assert [use.place for use in models_used(file_of(text))][-1] == "agents.b.compaction_model"
    assert [use.name for use in main_models(file_of(text), agent="a")] == ["openai/x", "xai/y"]


def test_models_that_route_in_a_circle_end() -> None:
    m = "{provider: openai, model: x, routing: [{model: m}, {model: n}]}"
    more = f"models: {{m: {m}, n: {{provider: xai, model: y, routing: [{{model: m}}]}}}}"
    assert missing(agent("m", more)) == ["OPENAI_API_KEY"]
