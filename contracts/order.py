"""The order that the driver gives the runner: one JSON line on its stdin."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.plan import Plan
from contracts.record import Record
from contracts.telemetry import SpanSink

FIXTURE_URL_MARK = "{fixtureUrl}"
"""In the text of an agent file: the attempt's address. docker-agent expands no variable in that of an MCP server."""


class HostOverStdio(Record):
    """The runner starts agent_host itself and speaks over its stdin and stdout (process backend)."""

    kind: Literal["stdio"] = "stdio"
    argv: tuple[str, ...]


class HostOverTcp(Record):
    """agent_host listens in the agent container (compose)."""

    kind: Literal["tcp"] = "tcp"
    host: str
    port: int


class HostPerAttempt(Record):
    """agent_host listens in a container of each attempt, which the driver starts when the runner asks for it."""

    kind: Literal["per-attempt"] = "per-attempt"
    port: int


class DockerAgentOrder(Record):
    """Where docker-agent and its agent file are, as the agent's host sees them."""

    binary: str
    folder: str
    """The staged agent folder; nothing writes there."""
    file: str
    """Name of the agent file in the folder."""
    text: str | None = None
    """The agent file with the fixture API's tools, with `FIXTURE_URL_MARK` for the attempt's address; None: as it is
    in the folder."""


class RunnerOrder(Record):
    """What to run and where everything is, as the runner sees it."""

    plan: Plan
    suite: str
    """Directory of the suite."""
    fixture_url: str
    """`http://host:port` of the data port, as runner and agent reach it."""
    control_url: str
    agent_host: Annotated[HostOverStdio | HostOverTcp | HostPerAttempt, Field(discriminator="kind")] | None = None
    """None when the agent's adapter needs no process (chat)."""
    agent_suite: str
    """What `{suite}` means to the agent: the staged copy without the expectations."""
    agent_env: dict[str, str] = Field(default_factory=dict)
    """Provider keys and what -e names; values are in no file."""
    docker_agent: DockerAgentOrder | None = None
    """Present exactly for that adapter."""
    spans: SpanSink | None = None
    """Where spans go; None: none are made."""
    startup_seconds: float = 30.0
    """How long fixture API and agent_host may take to answer."""
