"""`--agent`, `--model` and `--prompt` resolve to what will run, or say what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.plan import AgentPlan
from contracts.planning import resolve_agent
from contracts.suite.loading import load_suite
from tests.fakes.suite_folder import SETTINGS, TOOL, SuiteFolder

MORE = """
[prompts.rude]
file = "prompts/polite.md"

[agents.bare]
adapter = "chat"

[agents.real]
adapter = "chat"
model = "openai/gpt-5"

[agents.served]
adapter = "http"
url = "http://agent:1"

[agents.packed]
adapter = "docker-agent"
file = "agents/desk.py"

[agents.open]
adapter = "command"
command = ["a"]
egress = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "desk", settings=SETTINGS + MORE)


def agent(
    folder: SuiteFolder, name: str | None = None, *, model: str | None = None, prompt: str | None = None
) -> AgentPlan:
    return resolve_agent(load_suite(folder.write()), name=name, model=model, prompt=prompt)


def refusal(folder: SuiteFolder, name: str | None = None, **flags: str) -> LabError:
    with pytest.raises(LabError) as caught:
        agent(folder, name, **flags)
    assert caught.value.exit_code == 2
    return caught.value


def test_the_default_agent_runs_as_declared(folder: SuiteFolder) -> None:
    plan = agent(folder)
    assert (plan.name, plan.adapter, plan.model, plan.prompt) == ("support", "chat", "scripted/support", "polite")
    assert plan.digest == load_suite(folder.root).agent_digests["support"]


def test_flags_override_model_and_prompt_and_leave_the_digest(folder: SuiteFolder) -> None:
    folder.texts["models/other.json"] = '{"rules": [{"reply": {"text": "hi"}}]}'
    plan = agent(folder, model="scripted/other", prompt="rude")
    assert (plan.model, plan.prompt) == ("scripted/other", "rude")
    assert plan.digest == agent(folder).digest


def test_a_command_agent_may_name_any_model(folder: SuiteFolder) -> None:
    plan = agent(folder, "desk", model="openai/gpt-5")
    assert plan.command == ("python3", "{suite}/agents/desk.py")
    assert plan.model == "openai/gpt-5"


def test_a_chat_agent_may_ask_a_known_provider_or_any_endpoint(folder: SuiteFolder) -> None:
    assert agent(folder, "real").model == "openai/gpt-5"
    folder.settings += '\n[agents.own]\nadapter = "chat"\nmodel = "llama/small"\nmodel_url = "http://127.0.0.1:1/v1"\n'
    plan = agent(folder, "own")
    assert (plan.model, plan.model_url) == ("llama/small", "http://127.0.0.1:1/v1")


def test_an_only_agent_needs_no_default(folder: SuiteFolder) -> None:
    folder.settings = '[agents.desk]\nadapter = "command"\ncommand = ["a"]\n'
    assert agent(folder).name == "desk"


@pytest.mark.parametrize(
    ("name", "flags", "code", "words"),
    [
        ("suport", {}, ErrorCode.UNKNOWN_AGENT, 'unknown agent "suport"; did you mean "support"?'),
        ("nobody", {}, ErrorCode.UNKNOWN_AGENT, "known: bare, desk, open, packed, real, served, support"),
        ("agent.yaml", {}, ErrorCode.UNKNOWN_AGENT, "agent.yaml"),
        ("support", {"model": "opneai/gpt-5"}, ErrorCode.UNKNOWN_MODEL, "model_url in [agents.support]"),
        ("support", {"model": "scripted/suport"}, ErrorCode.UNKNOWN_MODEL, 'did you mean "scripted/support"?'),
        ("support", {"model": "support"}, ErrorCode.UNKNOWN_MODEL, "provider/model"),
        ("desk", {"model": "scripted/nope"}, ErrorCode.UNKNOWN_MODEL, "scripted/support"),
        ("support", {"prompt": "rud"}, ErrorCode.UNKNOWN_PROMPT, 'did you mean "rude"?'),
        ("bare", {}, ErrorCode.BAD_USAGE, 'the chat agent "bare" has no model'),
    ],
)
def test_what_cannot_run_is_refused_by_name(
    folder: SuiteFolder, name: str, flags: dict[str, str], code: ErrorCode, words: str
) -> None:
    error = refusal(folder, name, **flags)
    assert error.code is code
    assert words in str(error)


def test_no_default_among_several_agents_is_refused_with_their_names(folder: SuiteFolder) -> None:
    folder.settings = folder.settings.replace('default_agent = "support"\n', "")
    error = refusal(folder)
    assert error.code is ErrorCode.UNKNOWN_AGENT
    assert "bare, desk, open, packed, real, served, support" in str(error)


def test_a_chat_agent_refuses_unbound_tools_and_a_command_takes_them(folder: SuiteFolder) -> None:
    folder.tools = [TOOL, {"type": "function", "function": {"name": "think"}}]
    error = refusal(folder)
    assert 'desk/tools.json /tools/1: the tool "think" has no http' in str(error)
    assert agent(folder, "desk").name == "desk"


def test_a_served_agent_runs_as_declared(folder: SuiteFolder) -> None:
    plan = agent(folder, "served")
    assert (plan.url, plan.protocol, plan.start_seconds, plan.needs_host) == ("http://agent:1", "lab", 30.0, False)


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://agent:1/v1", "http://agent:1/v1/chat/completions"),
        ("http://agent:1/v1/", "http://agent:1/v1/chat/completions"),
        ("http://agent:1/talk", "http://agent:1/talk"),
    ],
)
def test_the_base_url_of_a_chat_endpoint_leads_to_its_completions(folder: SuiteFolder, url: str, asked: str) -> None:
    folder.settings = folder.settings.replace('url = "http://agent:1"', f'url = "{url}"\nprotocol = "openai"')
    assert agent(folder, "served").url == asked
