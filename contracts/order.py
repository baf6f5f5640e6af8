"""The order that the driver gives the runner: one JSON line on its stdin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import to_json

from contracts.plan import Plan
from contracts.record import Record
from contracts.telemetry import SpanSink
from contracts.tries import LastTry

FIXTURE_URL_MARK = "{fixtureUrl}"
"""In the text of an agent file: the attempt's address. docker-agent expands no variable in that of an MCP server."""
_NO_CASES = b'"cases":[]'


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


class FaultProxyOrder(Record):
    """Where toxiproxy is, as the runner and the agents see it."""

    admin_host: str
    """Where its API is asked; out of every agent's reach, where the backend has such a place."""
    admin_port: int
    listen: str
    """The host part of the addresses that proxies listen on, such as `127.0.0.1` or `[::]`."""
    host: str
    """How agents and the runner name the place where proxies listen."""
    upstream: str
    """`host:port` of the fixture API's data port, as toxiproxy reaches it."""


FAULT_PROXY = "fault-proxy"
"""The service of compose.yaml: a name that exists exactly when the profile fault is on."""
FAULT_PROXY_ON_COMPOSE = FaultProxyOrder(
    admin_host="fault-control",
    admin_port=8474,
    listen="[::]",  # as toxiproxy itself writes down the address that stands for all
    host=FAULT_PROXY,
    upstream="fixture-api:8080",
)


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
    fault_proxy: FaultProxyOrder | None = None
    """None: no attempt of this run has a network fault."""
    spans: SpanSink | None = None
    """Where spans go; None: none are made."""
    finished: tuple[LastTry, ...] = ()
    """Of a run that is gone on with: what is not made again, or goes on with its next try."""
    startup_seconds: float = 30.0
    """How long fixture API and agent_host may take to answer."""

    def to_pieces(self) -> Iterator[bytes]:
        """The bytes of `to_line` in pieces, one for each planned case: as one they would be there several times."""
        cases = self.plan.cases
        without = self.model_copy(update={"plan": self.plan.model_copy(update={"cases": ()})})
        start, key, end = without.to_line().encode().partition(_NO_CASES)  # in a text, its quotes would be escaped
        yield start + key[:-1]
        for number, case in enumerate(cases):
            yield (b"," if number else b"") + to_json(case, by_alias=True, exclude_none=True)
        yield key[-1:] + end
