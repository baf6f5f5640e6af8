"""Which agent of a suite a run takes, and with which prompt and model: `--agent`, `--prompt` and `--model`."""

from __future__ import annotations

import re

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import PROVIDERS, SCRIPTED, Endpoint
from contracts.plan import AgentPlan
from contracts.suite.problems import unknown_name
from contracts.suite.settings import Adapter, Agent
from contracts.suite.suite import Suite

_MODEL = re.compile(r"[^/\s]+/\S+")
SERVED_START_S = 30.0
"""How long a served agent may take to accept connections, once the lab began to wait for it."""


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
    _refuse_idle_auth(suite, name)
    chosen_prompt = agent.prompt if prompt is None else prompt
    if chosen_prompt is not None and chosen_prompt not in suite.prompts:
        text = unknown_name("prompt", chosen_prompt, suite.prompts)
        raise LabError(ErrorCode.UNKNOWN_PROMPT, text, next_step="--prompt NAME, with one of [prompts]")
    chosen_model = agent.model if model is None else model
    refuse_model(suite, name=name, adapter=agent.adapter, model=chosen_model, model_url=agent.model_url)
    if agent.adapter == "chat":
        _refuse_unbound_tools(suite, name)
    return AgentPlan(
        name=name,
        adapter=agent.adapter,
        prompt=chosen_prompt,
        model=chosen_model,
        model_url=agent.model_url,
        temperature=agent.temperature,
        max_output_tokens=agent.max_output_tokens,
        command=agent.command,
        reference=agent.file if agent.adapter == "docker-agent" else None,
        args=agent.args,
        fixture_tools=agent.fixture_tools,
        binary_image=agent.binary_image,
        select=agent.select,
        url=_url(agent),
        protocol=(agent.protocol or "lab") if agent.adapter == "http" else None,
        auth=agent.auth,
        auth_required=agent.auth_required,
        start_seconds=SERVED_START_S if agent.adapter == "http" else None,
        digest=suite.agent_digests[name],
    )


def missing_token(agent: AgentPlan) -> LabError:
    """The error for a bearer token that nobody gave."""
    return LabError(
        ErrorCode.UNSET_VARIABLE,
        f'the agent "{agent.name}" is asked with {agent.auth} as its bearer token, which has no value',
        next_step=f"-e {agent.auth}, with a value",
    )


def _url(agent: Agent) -> str | None:
    """Where it is asked: an OpenAI base URL leads to its chat completions."""
    if agent.url is None or agent.protocol != "openai" or not agent.url.rstrip("/").endswith("/v1"):
        return agent.url
    return agent.url.rstrip("/") + "/chat/completions"


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


def _refuse_idle_auth(suite: Suite, name: str) -> None:
    """A command is asked by nobody over HTTP: a token for it would silently go nowhere."""
    agent = suite.agents[name]
    if agent.auth and agent.adapter in {"command", "docker-agent"}:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f'the {agent.adapter} agent "{name}" has auth, which is the token of a request to an agent or its model',
            found=[Found(f'auth = "{agent.auth}"', suite.shown("suite.toml"), f"agents.{name}.auth")],
            next_step=f"-e {agent.auth} gives it the variable",
        )


def refuse_model(suite: Suite, *, name: str, adapter: Adapter, model: str | None, model_url: str | None = None) -> None:
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
    if provider != SCRIPTED and adapter == "chat" and not Endpoint(model, url=model_url).is_known:
        raise LabError(
            ErrorCode.UNKNOWN_MODEL,
            f'the model "{model}" of the agent "{name}" is of a provider that is not known by name',
            expected=f"one of {', '.join([SCRIPTED, *PROVIDERS])}, or any name with a model_url",
            next_step=f"model_url in [agents.{name}]: any endpoint that speaks OpenAI's protocol",
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
