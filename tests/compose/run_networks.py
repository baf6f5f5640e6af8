"""The networks of a run under way, who is on them, and a fault proxy beside them where the run has none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.compose.engine_calls import docker
from tests.compose.launching import ROOT, LiveRun

CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)"


def network(run: LiveRun, name: str) -> dict[str, Any]:
    """What the engine says of one of the run's two networks."""
    label = f"com.docker.compose.network={name}"
    ask = ("network", "ls", "--quiet", "--filter", f"label=labctl.run={run.id}", "--filter", f"label={label}")
    found: dict[str, Any] = json.loads(docker("network", "inspect", docker(*ask)))[0]
    return found


def addresses(net: dict[str, Any]) -> dict[str, str]:
    """Container id to its address in a network."""
    return {each: told["IPv4Address"].partition("/")[0] for each, told in net["Containers"].items()}


@contextmanager
def toxiproxy(run: LiveRun) -> Iterator[str]:
    """A fault proxy like that of compose.yaml on the networks of the run, which has no profile of its own."""
    setup = dict(line.split("=", 1) for line in (ROOT / ".env").read_text().splitlines() if "=" in line)
    control, tools = (network(run, name)["Id"] for name in ("control", "tools"))
    where = ("--network", control, "--network-alias", "fault-control", "--label", f"labctl.run={run.id}")
    container = docker("create", *where, setup["TOXIPROXY_IMAGE"], "-host=fault-control", "-proxy-metrics")
    try:
        docker("network", "connect", "--alias", "fault-proxy", tools, container)
        docker("start", container)
        yield container
    finally:
        docker("rm", "--force", container)  # else the networks of the run could not be removed


def connects_from(container: str, host: str, port: int) -> bool:
    return docker("exec", container, "/opt/lab/bin/python", "-c", CONNECT, host, str(port)) == ""
