"""Which models of an agent file need a way out of the closed network, and the refusal that names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.model_endpoint import is_scripted
from contracts.plan import AgentPlan
from driver.agent_env import MODELS_GATEWAY
from driver.agent_file import AgentFile
from driver.agent_reach import models_outside
from driver.egress import decide_egress
from driver.yaml_values import read_yaml
from tests.fakes.assignments import DIGEST

LAB = 'providers: {scripted: {base_url: "${env.MODEL_URL}", api_type: openai_chatcompletions}}\n'


def outside(text: str, *, model: str | None = None, env: dict[str, str] | None = None) -> list[str | None]:
    file = AgentFile(path=Path("agent.yaml"), text=text, document=read_yaml(text))
    plan = AgentPlan(
        name="a", adapter="docker-agent", file="agent.yaml", model=model, overrides_model=bool(model), digest=DIGEST
    )
    found = models_outside(file, plan, env=env or {})
    if found:
        with pytest.raises(LabError) as caught:
            decide_egress(plan, asked=False, declared=False, backend="compose", outside=found)
        assert caught.value.code is ErrorCode.EGRESS_MISSING
        assert all(str(one) in str(caught.value) for one in found)
    else:
        assert not decide_egress(plan, asked=False, declared=False, backend="compose", outside=found)
    return [one.place for one in found]


def root(model: str | None, more: str = "") -> str:
    return f"agents:\n  root:\n    {f'model: {model}' if model else 'instruction: x'}\n{more}"


def based(url: str) -> str:
    return root("m", f'models: {{m: {{provider: openai, model: x, base_url: "{url}"}}}}')


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (root(None), ["agents.root.model"]),
        (root("auto"), ["agents.root.model"]),
        (root("scripted/a, auto"), ["agents.root.model"]),
        (root("m", "models: {m: {first_available: [openai/x, anthropic/y]}}"), ["agents.root.model"]),
        (root("openai/x"), ["agents.root.model"]),
        (root("'scripted/a,openai/b'"), ["agents.root.model"]),
        (root("scripted/a", "  helper: {model: openai/b}"), ["agents.helper.model"]),
        (root("scripted/a", "    compaction_model: openai/b"), ["agents.root.compaction_model"]),
        (
            root("m", "models: {m: {provider: scripted, model: x, routing: [{model: openai/b}]}}"),
            ["models.m.routing"],
        ),
        (based("https://api.example.com/v1"), ["agents.root.model"]),
        (based("http://localhost:8000/v1"), ["agents.root.model"]),
        (based("${env.NOBODY_GAVE_IT}"), ["agents.root.model"]),
        (based("http://gateway:8000/v1"), []),
        (based("${env.MODEL_URL}"), []),
        (root("scripted/a"), []),
        (root("scripted/a", LAB), []),
        (root("'scripted/a, scripted/b'", LAB), []),
    ],
)
def test_every_model_of_the_file_counts_and_so_does_one_that_nobody_named(text: str, places: list[str]) -> None:
    assert outside(text) == places


def test_an_address_and_a_gateway_are_those_of_the_agents_variables() -> None:
    assert outside(based("${env.DESK_URL}/v1"), env={"DESK_URL": "http://desk:80"}) == []
    assert outside(root("openai/x"), env={MODELS_GATEWAY: "http://gateway:80"}) == []
    assert outside(root("openai/x"), env={MODELS_GATEWAY: "https://gateway.example.com"}) == ["agents.root.model"]


def test_a_model_that_the_flag_names_stands_for_those_of_the_file() -> None:
    text = root("openai/x", "  helper: {model: auto}")
    assert outside(text, model="scripted/a") == []
    assert outside(text, model="anthropic/y") == ["agents.root.model", "agents.helper.model"]


def test_several_models_are_scripted_only_where_all_of_them_are() -> None:
    assert is_scripted("scripted/a, scripted/b")
    assert not is_scripted("scripted/a,openai/b")
