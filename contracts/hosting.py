"""The runner's view of the agent_host protocol: JSON lines in both directions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from contracts.record import BUILT_AT_FIRST_USE, Record


class HostStart(Record):
    """Start one agent process in a fresh directory."""

    op: Literal["start"] = "start"
    id: str
    argv: tuple[str, ...]
    env: dict[str, str]
    stdin: str
    seconds: float | None
    """Wall time until it is ended; None: no limit."""
    output_bytes: int
    """Of stdout and stderr together."""
    grace_seconds: float
    """Between SIGTERM and SIGKILL."""
    cwd: str | None = None
    """Where it starts; None: in its fresh directory."""
    leave: bool = False
    """What it left running stays when it ended by itself with 0: the services of a setup."""


class HostEnd(Record):
    """End that agent and every descendant now."""

    op: Literal["end"] = "end"
    id: str


class HostHello(Record):
    """The first line of the host."""

    op: Literal["hello"]
    version: Literal[1]


class AgentStarted(Record):
    """The process runs."""

    op: Literal["started"]
    id: str
    pid: int


class AgentFailed(Record):
    """The process could not be started; nothing follows for this id."""

    op: Literal["failed"]
    id: str
    message: str


class AgentOut(Record):
    """A piece of output, of any size."""

    op: Literal["out"]
    id: str
    stream: Literal["stdout", "stderr"]
    text: str


class AgentEnded(Record):
    """Every descendant is gone and the output was drained."""

    op: Literal["ended"]
    id: str
    exit_code: int | None = None
    signal: int | None = None
    reason: Literal["exit", "seconds", "output", "asked", "supervisor-lost"]
    strays: int
    output_bytes: int
    duration_ms: int


HostMessage = HostHello | AgentStarted | AgentFailed | AgentOut | AgentEnded

host_messages: TypeAdapter[HostMessage] = TypeAdapter(
    Annotated[HostMessage, Field(discriminator="op")], config=BUILT_AT_FIRST_USE
)
"""Parses one line of the host; raises pydantic.ValidationError for anything else."""
