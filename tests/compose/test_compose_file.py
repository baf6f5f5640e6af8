"""What Compose itself reads from compose.yaml, alone and with labctl's override."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contracts.suite.settings import Limits
from driver.stacks.room import NOFILE, SHARED_WORK_SHARE, SHM_SHARE, TMP_SHARE, room

ROOT = Path(__file__).resolve().parents[2]
OVERRIDE = ("-f", "compose.yaml", "-f", "driver/stacks/labctl.compose.yaml")
IMAGES = {
    "fixture-api": "FIXTURE_API_IMAGE",
    "eval-runner": "RUNNER_IMAGE",
    "agent": "AGENT_IMAGE",
    "fault-proxy": "TOXIPROXY_IMAGE",
    "otel-collector": "OTELCOL_IMAGE",
}
SETUP = {variable: f"sha256:{index:064x}" for index, variable in enumerate(IMAGES.values())} | {
    "LAB_UID": "4711",
    "LAB_GID": "4712",
}
LABCTL = {"LAB_SUITE": "/srv/suite", "LAB_RUN_ID": "run-1", "LAB_OWNER": "me", "LAB_TRACES": "/srv/traces"}

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]


def config(*options: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ} | variables
    command = ["docker", "compose", *options, "--env-file", os.devnull, "--profile", "*", "config", "--format", "json"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=30)


def services_of(*options: str, variables: dict[str, str] = SETUP) -> dict[str, Any]:
    done = config(*options, variables=variables)
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    return services


def test_the_services_and_their_profiles_are_those_of_the_contract() -> None:
    assert {name: service.get("profiles", []) for name, service in services_of().items()} == {
        "fixture-api": [],
        "eval-runner": ["eval"],
        "agent": ["agent"],
        "fault-proxy": ["fault"],
        "otel-collector": ["observe"],
    }


def test_each_service_is_on_the_networks_of_the_contract_only() -> None:
    assert {name: sorted(service["networks"]) for name, service in services_of().items()} == {
        "fixture-api": ["control", "tools"],
        "eval-runner": ["control", "tools"],
        "agent": ["tools"],
        "fault-proxy": ["control", "tools"],
        "otel-collector": ["control"],
    }


def test_control_names_exist_on_the_control_network_only() -> None:
    services = services_of()
    for name, alias in (("fixture-api", "fixture-control"), ("fault-proxy", "fault-control")):
        assert services[name]["networks"]["control"]["aliases"] == [alias]
        assert not (services[name]["networks"]["tools"] or {}).get("aliases")


def test_both_networks_are_internal_and_their_bridges_have_no_address() -> None:
    networks = json.loads(config(variables=SETUP).stdout)["networks"]
    for name in ("tools", "control"):
        assert networks[name]["internal"] is True
        assert networks[name]["enable_ipv6"] is False
        assert networks[name]["driver_opts"] == {"com.docker.network.bridge.inhibit_ipv4": "true"}


@pytest.mark.parametrize("name", IMAGES)
def test_a_service_is_hardened(name: str) -> None:
    service = services_of()[name]
    assert service["user"] == "4711:4712"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["mem_limit"]) > 0
    assert service["pids_limit"] > 0
    assert not {"privileged", "cap_add", "devices", "network_mode", "pid", "ipc", "extra_hosts"} & set(service)


@pytest.mark.parametrize("name", IMAGES)
def test_a_service_has_no_fixed_name_no_port_and_an_image_that_is_never_pulled(name: str) -> None:
    service = services_of()[name]
    assert not {"container_name", "hostname", "ports", "build"} & set(service)
    assert service["image"] == SETUP[IMAGES[name]]
    assert service["pull_policy"] == "never"


def test_only_the_runner_depends_on_others_and_only_the_fixture_api_is_required() -> None:
    services = services_of()
    assert [name for name, service in services.items() if service.get("depends_on")] == ["eval-runner"]
    needs = services["eval-runner"]["depends_on"]
    assert needs["fixture-api"] == {"condition": "service_healthy", "required": True}
    optional = {name for name, need in needs.items() if need.get("required") is False}
    assert optional == {"agent", "fault-proxy", "otel-collector"}


def test_the_agent_gets_its_view_of_the_suite_and_nothing_else() -> None:
    agent = services_of(variables=SETUP | {"LAB_AGENT_SUITE": "/srv/view"})["agent"]
    assert [(mount["source"], mount["target"], mount.get("read_only")) for mount in agent["volumes"]] == [
        ("/srv/view", "/agent-suite", True)
    ]
    assert not agent.get("environment")


def test_memory_and_processes_of_the_agent_follow_the_limits_of_the_suite() -> None:
    agent = services_of(variables=SETUP | {"LAB_MEMORY_MB": "64", "LAB_PIDS": "7"})["agent"]
    assert (int(agent["mem_limit"]), agent["pids_limit"]) == (64 << 20, 7)
    agent = services_of()["agent"]
    assert (int(agent["mem_limit"]), agent["pids_limit"]) == (2048 << 20, 512)


def test_by_hand_what_the_agent_can_write_has_the_room_that_labctl_gives_it() -> None:
    agent = services_of()["agent"]
    shares = {"/work:exec": SHARED_WORK_SHARE, "/tmp": TMP_SHARE, "/dev/shm": SHM_SHARE}  # noqa: S108 - in the container
    assert agent["tmpfs"] == [
        f"{place}{',' if ':' in place else ':'}mode=1777,{room(share, Limits()).options}"
        for place, share in shares.items()
    ]
    assert int(agent["memswap_limit"]) == int(agent["mem_limit"])
    assert agent["ulimits"] == {"nofile": {"soft": NOFILE, "hard": NOFILE}}


def test_by_hand_only_the_evidence_and_the_collectors_own_folder_can_be_written() -> None:
    mounts = [mount for service in services_of().values() for mount in service.get("volumes", [])]
    assert [mount["target"] for mount in mounts if not mount.get("read_only")] == ["/evidence", "/traces"]
    assert not [mount for mount in mounts if mount["type"] != "bind" or "docker.sock" in mount["source"]]


def _written(service: dict[str, Any]) -> list[str]:
    return [mount["source"] for mount in service.get("volumes", []) if not mount.get("read_only")]


def test_with_labctl_no_service_sees_the_evidence() -> None:
    services = services_of(*OVERRIDE, variables=SETUP | LABCTL)
    written = {name: mounts for name, service in services.items() if (mounts := _written(service))}
    assert written == {"otel-collector": ["/srv/traces"]}
    runner = services["eval-runner"]
    assert [(mount["source"], mount["target"]) for mount in runner["volumes"]] == [("/srv/suite", "/suite")]
    assert runner["command"] == ["attempts"]
    assert runner["stdin_open"] is True


def test_with_labctl_everything_says_whose_it_is() -> None:
    done = json.loads(config(*OVERRIDE, variables=SETUP | LABCTL).stdout)
    for part in [*done["services"].values(), *done["networks"].values()]:
        assert part["labels"] == {"labctl.run": "run-1", "labctl.owner": "me"}


@pytest.mark.parametrize("variable", ["FIXTURE_API_IMAGE", "RUNNER_IMAGE", "AGENT_IMAGE", "LAB_UID", "LAB_GID"])
def test_without_setup_compose_names_the_next_step(variable: str) -> None:
    done = config(variables={key: value for key, value in SETUP.items() if key != variable})
    assert done.returncode != 0
    assert "run make setup first" in done.stderr


def test_a_proxy_or_collector_that_setup_did_not_name_is_the_pinned_one_and_keeps_no_other_from_running() -> None:
    services = services_of(variables=SETUP | {"TOXIPROXY_IMAGE": "", "OTELCOL_IMAGE": ""})
    pins = (ROOT / "images.env").read_text(encoding="utf-8").splitlines()
    assert f"TOXIPROXY_IMAGE={services['fault-proxy']['image']}" in pins
    assert f"OTELCOL_IMAGE={services['otel-collector']['image']}" in pins
