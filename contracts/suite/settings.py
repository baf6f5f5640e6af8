"""suite.toml: revision, clock, agents, limits and where the other files are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from contracts.record import Record

_TOML = ConfigDict(alias_generator=None)

Adapter = Literal["chat", "command", "http", "docker-agent"]


class Policy(Record):
    """The policy text that follows the prompt."""

    model_config = _TOML
    revision: str
    file: str


class PromptFile(Record):
    """[prompts.NAME]"""

    model_config = _TOML
    file: str


class Job(Record):
    """[jobs.NAME]: a named combination of profiles."""

    model_config = _TOML
    profiles: tuple[str, ...] = ()


class Limits(Record):
    """[limits]: bounds of every attempt; durations in seconds."""

    model_config = _TOML
    seconds: Annotated[float, Field(ge=0)] = 600.0
    """0: none."""
    setup_seconds: Annotated[float, Field(gt=0)] = 300.0
    tool_seconds: Annotated[float, Field(gt=0)] = 10.0
    model_seconds: Annotated[float, Field(gt=0)] = 60.0
    model_calls: Annotated[int, Field(ge=0)] = 20
    tool_calls: Annotated[int, Field(ge=0)] = 50
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    memory_mb: Annotated[int, Field(ge=16)] = 2048
    pids: Annotated[int, Field(ge=8)] = 512
    output_bytes: Annotated[int, Field(ge=1)] = 8 * 1024 * 1024
    infrastructure_retries: Annotated[int, Field(ge=0)] = 0


class Agent(Record):
    """[agents.NAME]"""

    model_config = _TOML
    adapter: Adapter
    prompt: str | None = None
    model: Annotated[str, Field(pattern=r"^[^/\s]+/\S+$")] | None = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    files: tuple[str, ...] | None = None
    egress: bool = False
    secret: tuple[str, ...] = ()
    select: Literal["prefix", "header"] = "prefix"
    model_url: str | None = None
    auth: str | None = None
    command: tuple[str, ...] | None = None
    url: str | None = None
    protocol: Literal["lab", "openai"] | None = None
    auth_required: bool = False
    file: str | None = None
    args: tuple[str, ...] = ()
    binary_image: str | None = None
    fixture_tools: bool = False
    image: str | None = None


class SuiteSettings(Record):
    """suite.toml; every missing key has the default that is recorded as one."""

    model_config = _TOML
    revision: str | None = None
    clock: str = "2026-01-01T00:00:00Z"
    timezone: str = "UTC"
    locale: str = "C.UTF-8"
    seed: int = 0
    cases: str = "cases.json"
    routes: str = "routes.json"
    tools: str = "tools.json"
    state: str = "state.json"
    sessions: str | None = None
    tool_schema_revision: str | None = None
    policy: Policy | None = None
    judge_model: str | None = None
    judge_url: str | None = None
    lock_files: tuple[str, ...] = ()
    compose_files: tuple[str, ...] = ()
    prompts: dict[str, PromptFile] = Field(default_factory=dict)
    default_agent: str | None = None
    agents: dict[str, Agent] = Field(default_factory=dict)
    limits: Limits = Limits()
    jobs: dict[str, Job] = Field(default_factory=dict)
