"""suite.toml: revision, clock, agents, limits and where the other files are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from contracts.record import Record

_TOML = ConfigDict(alias_generator=None)
_MOST_SECONDS = 1e7
"""About four months: beyond it the system's own clocks overflow."""

Adapter = Literal["chat", "command", "http", "docker-agent"]


class Policy(Record):
    """The policy text that follows the prompt."""

    model_config = _TOML
    revision: str
    """A label; the digest of the file is recorded beside it."""
    file: str
    """A path in the suite."""


class PromptFile(Record):
    """[prompts.NAME]"""

    model_config = _TOML
    file: str
    """A path in the suite."""


class Job(Record):
    """[jobs.NAME]: a named combination of profiles."""

    model_config = _TOML
    profiles: tuple[str, ...] = ()


class Limits(Record):
    """[limits]: bounds of every attempt; durations in seconds."""

    model_config = _TOML
    seconds: Annotated[float, Field(ge=0, le=_MOST_SECONDS)] = 600.0
    """0: none."""
    setup_seconds: Annotated[float, Field(gt=0, le=_MOST_SECONDS)] = 300.0
    """Time of a case's setup."""
    tool_seconds: Annotated[float, Field(gt=0, le=_MOST_SECONDS)] = 10.0
    """Time of one tool call of the chat adapter."""
    model_seconds: Annotated[float, Field(gt=0, le=_MOST_SECONDS)] = 60.0
    """Time of one model request of the chat adapter."""
    model_calls: Annotated[int, Field(ge=0)] = 20
    """Model requests of an attempt."""
    tool_calls: Annotated[int, Field(ge=0)] = 50
    """Tool calls of an attempt."""
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    """Cost of an attempt in US dollars; absent: no limit."""
    memory_mb: Annotated[int, Field(ge=16)] = 2048
    pids: Annotated[int, Field(ge=8)] = 512
    cpus: Annotated[float, Field(gt=0)] | None = None
    """Of the machine's, for the container of an agent; absent: all."""
    output_bytes: Annotated[int, Field(ge=1)] = 8 * 1024 * 1024
    """Of an agent process."""
    infrastructure_retries: Annotated[int, Field(ge=0)] = 0
    """How often an attempt that died of infrastructure or its provider is tried again."""


class Agent(Record):
    """[agents.NAME]"""

    model_config = _TOML
    adapter: Adapter
    """chat: the built-in tool loop; command: any program; http: a served agent; docker-agent: an agent file."""
    prompt: str | None = None
    """A name of [prompts]."""
    model: Annotated[str, Field(pattern=r"^[^/\s]+/\S+$")] | None = None
    """provider/model; scripted/NAME is models/NAME.json."""
    temperature: Annotated[float, Field(ge=0)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    files: tuple[str, ...] | None = None
    """Globs: what the agent is made of; absent: the files of the suite that its command names."""
    egress: bool = False
    """Lets the agent out of the closed network."""
    secret: tuple[str, ...] = ()
    """Variables whose values reach no file."""
    select: Literal["prefix", "header"] = "prefix"
    """How its requests find their case: by the prefix of the URL, or by the header x-eval-case."""
    model_url: str | None = None
    """Where MODEL_URL leads when the model is not scripted."""
    auth: str | None = None
    """The variable whose value is sent as a bearer token."""
    command: tuple[str, ...] | None = None
    """The program and its arguments; {suite} is a copy of the suite without the expectations."""
    url: str | None = None
    """Of an agent that is served."""
    protocol: Literal["lab", "openai"] | None = None
    auth_required: bool = False
    """A request without credentials must be refused."""
    file: str | None = None
    """agent.yaml or a registry reference."""
    args: tuple[str, ...] = ()
    """More arguments for docker-agent."""
    binary_image: str | None = None
    fixture_tools: bool = False
    """Gives it the fixture API's MCP server as a toolset."""
    image: str | None = None


class SuiteSettings(Record):
    """suite.toml; every missing key has the default that is recorded as one."""

    model_config = _TOML
    revision: str | None = None
    """A label of routes and state; absent: their digest."""
    clock: str = "2026-01-01T00:00:00Z"
    """The instant that the fixture API and LAB_NOW say: RFC 3339 with an offset."""
    timezone: str = "UTC"
    """An IANA name; TZ of the agent."""
    locale: str = "C.UTF-8"
    """LANG of the agent."""
    seed: Annotated[int, Field(ge=0)] = 0
    """EVAL_SEED of the agent."""
    cases: str = "cases.json"
    routes: str = "routes.json"
    tools: str = "tools.json"
    state: str = "state.json"
    sessions: str | None = None
    """A folder of docker-agent sessions."""
    tool_schema_revision: str | None = None
    """A label of the tools; absent: their digest."""
    policy: Policy | None = None
    judge_model: str | None = None
    """provider/model of the relevance judge."""
    judge_url: str | None = None
    lock_files: tuple[str, ...] = ()
    """The agent's own; recorded by digest."""
    compose_files: tuple[str, ...] = ()
    """Merged into the stack."""
    prompts: dict[str, PromptFile] = Field(default_factory=dict)
    default_agent: str | None = None
    """A name of [agents]; absent: the only one."""
    agents: dict[str, Agent] = Field(default_factory=dict)
    limits: Limits = Limits()
    jobs: dict[str, Job] = Field(default_factory=dict)
