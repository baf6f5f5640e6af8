"""What a suite's compose files may bring, what is refused by file and key, and what the lab makes of the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.plan import ImageIdentity
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from driver.ports import UserServices
from driver.stacks import user_services as door
from driver.stacks.engine import compose_model
from driver.stacks.user_compose import problems_of, stack_part
from tests.fakes.suite_folder import SETTINGS, SuiteFolder

HEALTHY = {"test": ["CMD", "/healthy"]}
DESK = {"image": "desk:1", "command": None, "networks": {"default": None}, "healthcheck": HEALTHY}


def problems(service: Mapping[str, Any], *, name: str = "desk") -> list[str]:
    def refusal(path: Path) -> str | None:
        return None if path.is_relative_to("/suite") else f"mounts {path}, which is outside of the suite"

    model = {"services": {name: service}}
    found = problems_of(model, file="desk/a.yaml", services=frozenset({"desk", "other"}), refusal=refusal)
    return [str(one) for one in found]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("ports", [{"target": 80}], "services.desk.ports: publishes a port"),
        ("privileged", True, "services.desk.privileged: is privileged"),
        ("network_mode", "host", "services.desk.network_mode: leaves the network tools"),
        ("pid", "host", "services.desk.pid: sees the host's processes"),
        ("container_name", "desk", "services.desk.container_name: has a fixed name"),
        ("cap_add", ["NET_ADMIN"], "services.desk.cap_add: takes capabilities"),
        ("devices", [{"source": "/dev/kvm"}], "services.desk.devices: takes devices"),
        ("extra_hosts", ["host:host-gateway"], "services.desk.extra_hosts: names hosts outside"),
        ("security_opt", ["seccomp:unconfined"], "services.desk.security_opt: is not for a service of a suite"),
        ("userns_mode", "host", "services.desk.userns_mode: is not for a service of a suite"),
        ("networks", {"control": None}, 'services.desk.networks: joins "control"'),
        ("networks", {"tools": None, "mine": None}, 'services.desk.networks: joins "mine"'),
        ("depends_on", {"eval-runner": {}}, 'services.desk.depends_on: "eval-runner" is neither'),
        ("user", "0:0", "services.desk.user: is root"),
        ("user", "root", "services.desk.user: is root"),
        ("user", "00", "services.desk.user: is root"),
        ("user", "+0:1000", "services.desk.user: is root"),
        ("user", ":1000", "services.desk.user: is root"),
        (
            "volumes",
            [{"type": "bind", "source": "/var/run/docker.sock", "target": "/s"}],
            "services.desk.volumes.0: mounts /var/run/docker.sock, which is outside of the suite",
        ),
        ("volumes", [{"type": "volume", "source": "data", "target": "/d"}], "services.desk.volumes.0: is a volume"),
    ],
)
def test_what_no_service_of_a_suite_may_do_is_named_by_file_and_key(key: str, value: Any, words: str) -> None:
    (found,) = problems({**DESK, key: value})
    assert found.startswith(f"desk/a.yaml {words}")


@pytest.mark.parametrize("name", ["fixture-api", "eval-runner", "agent", "fault-proxy", "otel-collector"])
def test_a_service_of_the_lab_is_not_redefined(name: str) -> None:
    assert problems(DESK, name=name) == [
        f"desk/a.yaml services.{name}: is a service of the lab, which is not redefined"
    ]


def test_every_problem_of_a_service_is_named_at_once() -> None:
    assert len(problems({**DESK, "ports": [1], "privileged": True, "networks": {"control": None}})) == 3


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"networks": {"tools": None}, "depends_on": {"fixture-api": {}, "other": {}}},
        {"privileged": False, "ports": [], "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]},
        {"profiles": ["desk"], "build": {"context": "."}, "user": "1000", "read_only": False, "expose": ["80"]},
        {"volumes": [{"type": "bind", "source": "/suite/data", "target": "/d"}, {"type": "tmpfs", "target": "/t"}]},
    ],
)
def test_what_a_service_needs_is_taken(more: dict[str, Any]) -> None:
    assert problems({**DESK, **more}) == []


def part(service: Mapping[str, Any], *, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    made = stack_part(
        {"desk": service},
        images={"desk": "sha256:1"},
        moved=lambda path: Path("/staged") / path.relative_to("/suite"),
        env={"desk": env or {}},
    )
    services: dict[str, Any] = made["services"]
    return services


def test_the_runner_waits_until_a_service_is_healthy_or_started() -> None:
    def waits(service: Mapping[str, Any]) -> str:
        return str(part(service)["eval-runner"]["depends_on"]["desk"]["condition"])

    assert waits(DESK) == "service_healthy"
    assert waits({"image": "desk:1"}) == "service_started"
    assert waits({"image": "desk:1", "healthcheck": {"disable": True}}) == "service_started"


def test_a_service_runs_the_image_that_was_looked_up_hardened_on_tools_and_owned_by_the_run() -> None:
    made = part({**DESK, "profiles": ["desk"], "build": {"context": "."}, "restart": "always"})["desk"]

    assert (made["image"], made["pull_policy"], made["networks"], made["restart"]) == (
        "sha256:1",
        "never",
        ["tools"],
        "no",
    )
    assert (made["cap_drop"], made["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert (made["read_only"], made["user"]) == (True, "${LAB_UID}:${LAB_GID}")
    assert set(made["labels"]) == {"labctl.run", "labctl.owner"}
    assert not {"profiles", "build", "ports"} & set(made)
    assert part({**DESK, "read_only": False, "user": "1000"})["desk"]["user"] == "1000"


def test_folders_of_the_suite_are_mounted_from_the_agents_view_and_read_only() -> None:
    mount = {"type": "bind", "source": "/suite/data", "target": "/d", "bind": {"create_host_path": True}}

    (made,) = part({**DESK, "volumes": [mount]})["desk"]["volumes"]

    assert made == {**mount, "source": "/staged/data", "read_only": True, "bind": {"create_host_path": False}}


def test_values_of_e_reach_the_agents_service_whole() -> None:
    made = part({**DESK, "environment": {"A": "1", "B": "1"}}, env={"B": "p$x"})["desk"]
    assert made["environment"] == {"A": "1", "B": "p$$x"}


MODELS: dict[str, dict[str, Any]] = {
    "a.yaml": {"services": {"desk": {**DESK, "profiles": ["desk"]}, "always": {"image": "always:1"}}},
    "b.yaml": {"services": {"desk": {"ports": [1]}, "bare": {"profiles": ["bare"]}}},
}


@pytest.fixture
def compose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose and engine as far as this is about them."""

    def model(files: list[Path], *, folder: Path, env: Mapping[str, str]) -> dict[str, Any]:
        services: dict[str, Any] = {}
        for file in files:
            for name, service in MODELS[file.name]["services"].items():
                services[name] = {**services.get(name, {}), **service}
        return {"services": services}

    def found_images(references: Mapping[str, str], *, use: str) -> dict[str, ImageIdentity]:
        return {
            name: ImageIdentity(reference=reference, digest="sha256:1", image_id="sha256:1")
            for name, reference in references.items()
        }

    monkeypatch.setattr(door, "compose_model", model)
    monkeypatch.setattr(door, "found_images", found_images)


def suite_with(root: Path, *files: str) -> Suite:
    named = ", ".join(f'"{file}"' for file in files)
    folder = SuiteFolder(root / "desk", settings=f"compose_files = [{named}]\n" + SETTINGS)
    for file in files:
        folder.texts[file] = "services: {}"
    return load_suite(folder.write())


@pytest.mark.usefixtures("compose")
def test_services_of_the_chosen_profiles_are_on_and_those_without_any(tmp_path: Path) -> None:
    suite = suite_with(tmp_path, "a.yaml")

    assert set(door.user_services(suite, profiles=("desk",), env={}).services) == {"desk", "always"}
    assert set(door.user_services(suite, profiles=(), env={}).images) == {"always"}


@pytest.mark.usefixtures("compose")
def test_an_unknown_profile_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        door.user_services(suite_with(tmp_path, "a.yaml"), profiles=("desc",), env={})

    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.UNKNOWN_PROFILE, 2)
    assert 'unknown profile "desc"; did you mean "desk"?' in str(caught.value)
    assert "expected: one of: desk" in str(caught.value)


@pytest.mark.usefixtures("compose")
def test_problems_of_all_files_come_together_each_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        door.user_services(suite_with(tmp_path, "a.yaml", "b.yaml"), profiles=("bare",), env={})

    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.SUITE_INVALID, 2)
    assert [(found.file, found.place) for found in caught.value.found] == [
        ("desk/b.yaml", "services.desk.ports"),
        ("desk/b.yaml", "services.bare.image"),
    ]


@pytest.mark.usefixtures("compose")
def test_a_service_that_needs_one_whose_profile_is_off_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = {"services": {**MODELS["a.yaml"]["services"], "needy": {"image": "n:1", "depends_on": {"desk": {}}}}}
    monkeypatch.setitem(MODELS, "a.yaml", needy)

    with pytest.raises(LabError) as caught:
        door.user_services(suite_with(tmp_path, "a.yaml"), profiles=(), env={})
    assert 'desk/a.yaml services.needy: depends on "desk", whose profile is off' in str(caught.value)


@pytest.mark.usefixtures("compose")
def test_a_variable_that_a_service_passes_on_and_nothing_gives_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = {"services": {"desk": {"image": "desk:1", "environment": {"GITHUB_TOKEN": None, "A": "1"}}}}
    monkeypatch.setitem(MODELS, "a.yaml", model)
    with pytest.raises(LabError) as caught:
        door.user_services(suite_with(tmp_path, "a.yaml"), profiles=(), env={})
    assert caught.value.code is ErrorCode.UNSET_VARIABLE
    assert "found: desk/a.yaml services.desk.environment: GITHUB_TOKEN" in str(caught.value)
    assert "next: -e GITHUB_TOKEN" in str(caught.value)


def compose_program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `docker` that answers as the script does, first on the path."""
    folder.mkdir()
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_compose_sees_of_the_environment_the_clients_variables_and_what_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "gh")
    monkeypatch.setenv("COMPOSE_FILE", "/elsewhere.yaml")
    monkeypatch.setenv("DOCKER_HOST", "unix:///of-the-client")
    seen = "import json, os; print(json.dumps(dict(os.environ)))"
    compose_program(tmp_path / "bin", f"exec '{sys.executable}' -c '{seen}'", monkeypatch)

    model = compose_model([tmp_path / "a.yaml"], folder=tmp_path, env={"DESK_KEY": "k1", "DOCKER_HOST": "of-the-agent"})

    assert (model["DESK_KEY"], model["DOCKER_HOST"]) == ("k1", "unix:///of-the-client")
    assert not {"GITHUB_TOKEN", "COMPOSE_FILE"} & set(model)
    assert model["COMPOSE_DISABLE_ENV_FILE"] == "1"


WARNING = 'level=warning msg="The \\"DESK_TAG\\" variable is not set. Defaulting to a blank string."'
REQUIRED = "error while interpolating services.b.image: required variable DESK_TAG is missing a value: need it"


@pytest.mark.parametrize(("said", "status"), [(WARNING, 0), (REQUIRED, 1)])
def test_a_variable_that_compose_misses_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: int
) -> None:
    compose_program(tmp_path / "bin", f"echo '{{}}'; printf '%s\\n' '{said}' >&2; exit {status}", monkeypatch)
    with pytest.raises(LabError) as caught:
        compose_model([tmp_path / "a.yaml"], folder=tmp_path, env={})
    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.UNSET_VARIABLE, 2)
    assert "found: a.yaml: DESK_TAG" in str(caught.value)
    assert "next: -e DESK_TAG" in str(caught.value)


def test_without_compose_files_every_profile_is_unknown(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path / "desk").write())

    assert door.user_services(suite, profiles=(), env={}) == UserServices()
    with pytest.raises(LabError) as caught:
        door.user_services(suite, profiles=("desk",), env={})
    assert "expected: one of: fault, observe" in str(caught.value)
