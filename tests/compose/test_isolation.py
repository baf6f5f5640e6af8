"""An agent of a real run that tries, from inside its container, everything that it must not reach."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.compose.engine_calls import containers_of, docker
from tests.compose.launching import ROOT, LiveRun, labctl_of_checkout, told
from tests.compose.small_suites import EXPECTATION_MARKER, probing_suite
from tests.compose.test_networks import addresses_of_this_host, port_of_this_host

pytestmark = pytest.mark.engine

NAMES = ("fixture-control", "fault-control", "fault-proxy", "otel-collector", "eval-runner")
HOST_NAMES = ("host.docker.internal", "gateway.docker.internal", "example.invalid")
PATHS = (
    *("/suite", "/suite/cases.json", "/evidence", "/var/run/docker.sock", "/run/docker.sock", "/agent-suite/models"),
    *(f"/agent-suite/{name}" for name in ("cases.json", "routes.json", "state.json", "suite.toml", "plan.json")),
)
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


def tell(agent: str, name: str, text: str) -> None:
    docker("exec", "--interactive", agent, "sh", "-c", f"cat > /tmp/new && mv /tmp/new /tmp/{name}", given=text)


def is_there(agent: str, path: str) -> bool:
    return docker("exec", agent, "sh", "-c", f"test -e {path} && echo yes || true") == "yes"


@pytest.fixture(scope="module")
def report(images: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the agent says, with what it was told and what could be reached from the fixture API's container."""
    labctl = labctl_of_checkout(tmp_path_factory.mktemp("isolation"))
    suite = probing_suite(tmp_path_factory.mktemp("suite"))
    flags = ("--backend", "compose", "--capture", "payloads")
    with labctl.started(str(suite), *flags) as run, port_of_this_host() as port:
        run.until(lambda: bool(containers_of(run.id, service="agent") and containers_of(run.id, service="eval-runner")))
        (agent,), (fixture,) = (containers_of(run.id, service=name) for name in ("agent", "fixture-api"))
        with toxiproxy(run) as proxy:
            tools, control = network(run, "tools"), network(run, "control")
            gateways = [config["Gateway"] for net in (tools, control) for config in net["IPAM"]["Config"]]
            bridge = json.loads(docker("network", "inspect", "bridge"))[0]["IPAM"]["Config"][0]["Gateway"]
            here = [address for address in addresses_of_this_host() if address not in {"127.0.0.1", "::1"}]
            orders = {
                "hostPort": port,
                "names": [*NAMES, *HOST_NAMES],
                "addresses": [*here, *gateways, bridge, *addresses(tools).values(), *addresses(control).values()],
                "controlAddresses": list(addresses(control).values()),
                "ownAddress": addresses(tools)[agent],
                "paths": PATHS,
                "marker": EXPECTATION_MARKER,
            }
            assert {fixture, proxy} <= set(addresses(control))
            open_to_the_lab = [
                connects_from(fixture, "fixture-control", 8081),
                connects_from(fixture, "fault-control", 8474),
            ]
            socket.create_connection(("127.0.0.1", port), 2).close()
            tell(agent, "told.json", json.dumps(orders))
            run.until(lambda: is_there(agent, "/tmp/done"))  # noqa: S108 - in the container
        tell(agent, "leave", "")
        done = run.wait()
    assert done.exit_code == 0, told(done)
    found: dict[str, Any] = json.loads(done.attempts["probes"]["texts"][0])
    return found | {"told": orders, "openToTheLab": open_to_the_lab, "fixture": addresses(tools)[fixture]}


def connects_from(container: str, host: str, port: int) -> bool:
    return docker("exec", container, "/opt/lab/bin/python", "-c", CONNECT, host, str(port)) == ""


def test_of_all_names_and_addresses_the_agent_reaches_the_data_port_only(report: dict[str, Any]) -> None:
    assert report["reached"] == [["fixture-api", 8080]]


def test_what_it_did_not_reach_was_there_and_was_tried(report: dict[str, Any]) -> None:
    told = report["told"]
    assert report["openToTheLab"] == [True, True]
    assert set(report["tried"]) >= {*told["names"], *told["addresses"], *told["controlAddresses"], "192.0.2.1"}
    assert report["fixture"] in report["tried"]
    assert any(address.endswith(".0.1") for address in report["tried"])


def test_there_is_no_route_to_the_control_network_or_out(report: dict[str, Any]) -> None:
    assert report["routed"] == []
    assert report["ownNetworkIsRouted"] is True


def test_no_name_of_the_control_network_or_the_host_resolves(report: dict[str, Any]) -> None:
    hidden = {"fixture-control", "fault-control", "otel-collector", *HOST_NAMES}
    assert hidden & set(report["resolved"]) == set()
    assert "fault-proxy" in report["resolved"]


def test_no_expectation_no_evidence_and_no_socket_of_the_engine_is_in_its_files_or_processes(
    report: dict[str, Any],
) -> None:
    assert report["there"] == []
    assert report["withMarker"] == []
    assert report["withOwnText"] == ["/agent-suite/agents/desk.py"], "the search finds what is there"
