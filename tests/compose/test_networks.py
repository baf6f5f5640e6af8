"""From inside the agent's container: what is out of reach, by name and by address, beside what is in reach."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.project import Project

pytestmark = pytest.mark.engine

PROBE = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
targets = json.loads(sys.argv[1])
def reach(target):
    try:
        socket.create_connection(target, 1).close()
    except OSError:
        return False
    return True
with ThreadPoolExecutor(64) as pool:
    found = pool.map(reach, map(tuple, targets))
print(json.dumps({f"{name} {port}": reached for (name, port), reached in zip(targets, found)}))
"""


@contextlib.contextmanager
def port_of_this_host() -> Iterator[int]:
    """A port that is open on every address of the host, IPv4 and IPv6."""
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        yield server.getsockname()[1]


def addresses_of_this_host() -> list[str]:
    shown = json.loads(subprocess.run(["ip", "-json", "address"], capture_output=True, text=True, check=True).stdout)
    infos = [info for device in shown for info in device["addr_info"]]
    zone = "%eth0"  # a link-local address means something on an interface only
    return [info["local"] + (zone if info["local"].startswith("fe80") else "") for info in infos]


def reach(project: Project, targets: list[tuple[str, int]]) -> dict[str, bool]:
    """Which of these the agent's container can connect to."""
    said = project.compose("exec", "-T", "agent", "python3", "-c", PROBE, json.dumps(targets))
    found: dict[str, bool] = json.loads(said)
    return found


@pytest.fixture(scope="module")
def stack(images: Path) -> Iterator[Project]:
    with Project(images) as project:
        project.compose("up", "--detach", "--wait", "fixture-api", "agent", "fault-proxy", "otel-collector")
        yield project


def test_the_agent_reaches_the_data_port_and_nothing_else_of_the_lab(stack: Project) -> None:
    fixture, proxy = stack.addresses("fixture-api"), stack.addresses("fault-proxy")
    collector = stack.addresses("otel-collector")
    assert set(collector) == {"control"}
    out_of_reach: list[tuple[str, int]] = [
        *((name, 8081) for name in ("fixture-control", "fixture-api", *fixture.values())),
        *((name, 8474) for name in ("fault-control", "fault-proxy", *proxy.values())),
        *((name, port) for name in ("otel-collector", collector["control"]) for port in (4317, 4318, 13133)),
        (fixture["control"], 8080),
    ]
    found = reach(stack, [("fixture-api", 8080), (fixture["tools"], 8080), *out_of_reach])
    assert [target for target, reached in found.items() if reached] == [
        "fixture-api 8080",
        f"{fixture['tools']} 8080",
    ]


def test_the_agent_reaches_no_port_of_the_host(stack: Project) -> None:
    gateways = [
        config["Gateway"]
        for network in ("tools", "control")
        for config in json.loads(stack.docker("network", "inspect", f"{stack.name}_{network}"))[0]["IPAM"]["Config"]
        if "Gateway" in config
    ]
    names = [*addresses_of_this_host(), *gateways, "host.docker.internal", "gateway.docker.internal", "172.17.0.1"]
    names = [name for name in names if name not in {"127.0.0.1", "::1"}]
    assert gateways
    with port_of_this_host() as port:
        found = reach(stack, [(name, port) for name in names])
        bridge = json.loads(stack.docker("network", "inspect", "bridge"))[0]["IPAM"]["Config"][0]["Gateway"]
        control = reached_from_the_default_bridge(stack, bridge, port)
    assert control, "the probe finds the port where nothing is in the way"
    assert not [target for target, reached in found.items() if reached]


def reached_from_the_default_bridge(stack: Project, name: str, port: int) -> bool:
    image = stack.container("agent")["Image"]
    program = ["--entrypoint", "python3", image, "-c", PROBE, json.dumps([(name, port)])]
    said = stack.docker("run", "--rm", *program)
    return all(json.loads(said).values())


def test_the_agent_has_no_way_out(stack: Project) -> None:
    routes = stack.compose("exec", "-T", "agent", "cat", "/proc/net/route").splitlines()[1:]
    assert len(routes) == 1
    assert routes[0].split()[2] == "00000000", "a route through a gateway"
    outside: list[tuple[str, int]] = [("192.0.2.1", 80), ("1.1.1.1", 53), ("example.com", 80), ("169.254.169.254", 80)]
    found = reach(stack, outside)
    assert not [target for target, reached in found.items() if reached]


def test_the_collector_takes_spans_on_the_control_network(stack: Project) -> None:
    ask = (
        "import json, urllib.request as r\n"
        "health = json.load(r.urlopen('http://otel-collector:13133/', timeout=5))['status']\n"
        "post = r.Request('http://otel-collector:4318/v1/traces', b'{\"resourceSpans\": []}',"
        " {'content-type': 'application/json'})\n"
        "print(health, r.urlopen(post, timeout=5).status)\n"
    )
    said = stack.compose("exec", "-T", "fixture-api", "/opt/lab/bin/python", "-c", ask)
    assert said.strip() == "Server available 200"
