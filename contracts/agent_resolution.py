"""Which agent of a suite a run takes, and with which prompt and model: `--agent`, `--prompt` and `--model`."""

from __future__ import annotations

import re

from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import AgentPlan
from contracts.suite.problems import unknown_name
from contracts.suite.settings import Adapter
from contracts.suite.suite import Suite

_MODEL = re.compile(r"[^/\s]+/\S+")
SCRIPTED = "scripted"
"""The provider of the models in models/."""


def resolve_agent(suite: Suite, *, name: str | None, model: str | None, prompt: str | None) -> AgentPlan:
    """The agent as it will run: the suite's declaration with `--agent`, `--model` and `--prompt` applied.

    Raises:
        LabError: unknown-agent, unknown-prompt, unknown-model, each with the nearest known name; bad-usage for a chat
            agent without a model; suite-invalid for one with unbound tools; not-built-yet for what later versions run.

    """
    name = _default_agent(suite) if name is None else name
    if name not in suite.agents:
        raise _no_such_agent(suite, name)
    agent = suite.agents[name]
    _refuse_unbuilt(suite, name)
    chosen_prompt = agent.prompt if prompt is None else prompt
    if chosen_prompt is not None and chosen_prompt not in suite.prompts:
        text = unknown_name("prompt", chosen_prompt, suite.prompts)
        raise LabError(ErrorCode.UNKNOWN_PROMPT, text, next_step="--prompt NAME, with one of [prompts]")
    chosen_model = agent.model if model is None else model
    refuse_model(suite, name=name, adapter=agent.adapter, model=chosen_model)
    if agent.adapter == "chat":
        _refuse_unbound_tools(suite, name)
    return AgentPlan(
        name=name,
        adapter=agent.adapter,
        prompt=chosen_prompt,
        model=chosen_model,
        temperature=agent.temperature,
        max_output_tokens=agent.max_output_tokens,
        command=agent.command,
        reference=agent.file if agent.adapter == "docker-agent" else None,
        args=agent.args,
        fixture_tools=agent.fixture_tools,
        binary_image=agent.binary_image,
        select=agent.select,
        digest=suite.agent_digests[name],
    )


def _default_agent(suite: Suite) -> str:
    if suite.settings.default_agent:
        return suite.settings.default_agent
    if len(suite.agents) == 1:
        return next(iter(suite.agents))
    known = ", ".join(sorted(suite.agents)) or "none is declared"
    raise LabError(
        ErrorCode.UNKNOWN_AGENT,
        f"the suite {suite.root} names no default agent",
        found=[Found(f"agents: {known}; no default_agent", suite.shown("suite.toml"))],
        next_step="--agent NAME, or default_agent in suite.toml"
        if suite.agents
        else "declare [agents.NAME] in suite.toml",
    )


def _no_such_agent(suite: Suite, name: str) -> LabError:
    return LabError(
        ErrorCode.UNKNOWN_AGENT,
        unknown_name("agent", name, suite.agents),
        next_step="--agent NAME, with one of [agents] in suite.toml",
    )


def _refuse_unbuilt(suite: Suite, name: str) -> None:
    agent, file = suite.agents[name], suite.shown("suite.toml")
    if agent.adapter not in {"chat", "command", "docker-agent"}:
        raise LabError(
            ErrorCode.NOT_BUILT_YET,
            f'the agent "{name}" has the adapter {agent.adapter}, which this version does not run',
            found=[Found(f'adapter = "{agent.adapter}"', file, f"agents.{name}.adapter")],
            expected="chat, command or docker-agent",
        )
    asked = {"egress": agent.egress, "model_url": agent.model_url, "auth": agent.auth, "image": agent.image}
    unbuilt = [key for key, value in asked.items() if value]
    if unbuilt:
        raise LabError(
            ErrorCode.NOT_BUILT_YET,
            f'the agent "{name}" asks for {", ".join(unbuilt)}, which this version does not give',
            found=[Found("is set", file, f"agents.{name}.{key}") for key in unbuilt],
        )


def refuse_model(suite: Suite, *, name: str, adapter: Adapter, model: str | None) -> None:
    """Raise LabError for a model that the agent cannot have; see `resolve_agent`."""
    known = [f"{SCRIPTED}/{one}" for one in sorted(suite.models)]
    if model is None:
        if adapter == "chat":
            raise LabError(
                ErrorCode.BAD_USAGE,
                f'the chat agent "{name}" has no model',
                expected=f"provider/model; the suite has {', '.join(known) or 'no scripted one'}",
                next_step=f"--model ID, or model in [agents.{name}]",
            )
        return
    provider, _, scripted = model.partition("/")
    if not _MODEL.fullmatch(model) or (provider == SCRIPTED and scripted not in suite.models):
        text = unknown_name("model", model, known)
        raise LabError(ErrorCode.UNKNOWN_MODEL, text, expected="provider/model; scripted/NAME is models/NAME.json")
    if provider != SCRIPTED and adapter == "chat":
        raise LabError(
            ErrorCode.NOT_BUILT_YET,
            f'the model "{model}" of the agent "{name}" is a real one, which this version does not ask',
            expected=", ".join(known) or "a scripted model: models/NAME.json",
        )


def _refuse_unbound_tools(suite: Suite, name: str) -> None:
    unbound = [(index, tool.name) for index, tool in enumerate(suite.tools) if tool.http is None]
    if unbound:
        file = suite.shown(suite.settings.tools)
        raise LabError(
            ErrorCode.SUITE_INVALID,
            f'the chat agent "{name}" cannot call tools without http',
            found=[Found(f'the tool "{tool}" has no http', file, f"/tools/{index}") for index, tool in unbound],
            next_step="bind each tool with http = {method, path}",
        )
