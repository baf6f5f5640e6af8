"""What runner and driver say to each other about the containers of attempts: asked on stdout, answered on stdin.

The environment, the command line and the input of an agent are never part of it: they travel from the runner to
agent_host. A setup as root is the one exception, since only the driver can start a process as root.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from contracts.record import BUILT_AT_FIRST_USE, Record


class ContainerWanted(Record):
    """Start a container for that attempt; the driver knows its image and its folder from the case."""

    type: Literal["container-wanted"] = "container-wanted"
    case_id: str
    attempt: int
    alias: str
    """Its name on the network of the agents, which is also what both call it."""
    token_sha256: str
    """Hex digest of the line that opens agent_host in it."""


class RootSetupWanted(Record):
    """Run the setup of the attempt as root in its container."""

    type: Literal["root-setup-wanted"] = "root-setup-wanted"
    alias: str
    script: str
    env: dict[str, str]
    seconds: float


class ContainerOver(Record):
    """The attempt ended, and nobody needs its container any more."""

    type: Literal["container-over"] = "container-over"
    alias: str
    entered: bool
    """The runner was connected to it, so it ends by itself."""


ContainerRequest = ContainerWanted | RootSetupWanted | ContainerOver

REQUEST_MARKS = tuple(f'{{"type":"{kind}"' for kind in ("container-wanted", "root-setup-wanted", "container-over"))
"""How the lines begin: the driver tells them from the runner's other lines without parsing those."""

container_requests: TypeAdapter[ContainerRequest] = TypeAdapter(
    Annotated[ContainerRequest, Field(discriminator="type")], config=BUILT_AT_FIRST_USE
)
"""Parses one line of the runner that begins with one of the marks; raises pydantic.ValidationError."""


class ContainerStarted(Record):
    """It runs: agent_host listens in it, or is about to."""

    type: Literal["started"] = "started"
    alias: str


class ContainerFailed(Record):
    """It could not be started, or the driver could not do what else was asked for it."""

    type: Literal["failed"] = "failed"
    alias: str
    reason: str


class RootSetupEnded(Record):
    """The setup ended by itself, or was given up."""

    type: Literal["setup-ended"] = "setup-ended"
    alias: str
    exit_code: int | None = None
    """None: it took too long."""
    output: str
    """The end of what it printed."""


ContainerAnswer = ContainerStarted | ContainerFailed | RootSetupEnded

container_answers: TypeAdapter[ContainerAnswer] = TypeAdapter(
    Annotated[ContainerAnswer, Field(discriminator="type")], config=BUILT_AT_FIRST_USE
)
"""Parses one line of the driver; raises pydantic.ValidationError."""
