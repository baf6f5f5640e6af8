"""Which isolation, way out and images a run gets from flags, agent and cases, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.own_containers import own_container_needs
from contracts.plan import AgentPlan, Backend
from contracts.suite.settings import Adapter
from driver import base_images as images
from driver.base_images import base_images
from driver.egress import decide_egress
from driver.isolation import decide_isolation
from driver.request import RunRequest
from tests.fakes.assignments import DIGEST, case_of
from tests.fakes.run_requests import REQUEST

NEEDS = {"boxed": ("setup", "image")}


def agent(adapter: Adapter = "command", *, model: str | None = None, model_url: str | None = None) -> AgentPlan:
    return AgentPlan(name="desk", adapter=adapter, model=model, model_url=model_url, digest=DIGEST)


def request(**flags: Any) -> RunRequest:
    return replace(REQUEST, **flags)


def isolation(
    adapter: Adapter = "command",
    *,
    needs: dict[str, tuple[str, ...]] | None = None,
    backend: Backend = "compose",
    agent_image: str | None = None,
    **flags: Any,
) -> str:
    return decide_isolation(
        request(**flags), agent=agent(adapter), agent_image=agent_image, backend=backend, needs=needs or {}
    )


def refusal(adapter: Adapter = "command", **given: Any) -> LabError:
    with pytest.raises(LabError) as caught:
        isolation(adapter, **given)
    return caught.value


@pytest.mark.parametrize(
    ("adapter", "given", "expected"),
    [
        ("command", {}, "shared"),
        ("command", {"isolation": "container"}, "container"),
        ("command", {"isolation": "container", "base_image": "alpine", "keep_containers": True}, "container"),
        ("command", {"needs": NEEDS}, "container"),
        ("docker-agent", {}, "container"),
        ("docker-agent", {"isolation": "shared"}, "shared"),
        ("docker-agent", {"backend": "process"}, "shared"),
        ("command", {"isolation": "shared", "no_setup": True}, "shared"),
        ("chat", {"isolation": "shared"}, "shared"),
        ("http", {}, "shared"),
    ],
)
def test_the_agent_and_the_cases_decide_unless_a_flag_does(
    adapter: Adapter, given: dict[str, Any], expected: str
) -> None:
    assert isolation(adapter, **given) == expected


@pytest.mark.parametrize("adapter", ["chat", "http"])
@pytest.mark.parametrize("backend", ["compose", "process"])
def test_agents_that_are_no_process_of_an_attempt_get_no_container(adapter: Adapter, backend: Backend) -> None:
    needed = refusal(adapter, needs=NEEDS, backend=backend)
    assert (needed.code, needed.exit_code) == (ErrorCode.BAD_USAGE, 2)
    assert 'found: the case "boxed" has setup, image' in str(needed)
    assert refusal(adapter, isolation="container", backend=backend).exit_code == 2


def test_the_process_backend_has_no_containers_and_names_the_cases_in_need() -> None:
    needed = refusal(needs=NEEDS, backend="process")
    assert (needed.code, needed.exit_code) == (ErrorCode.ISOLATION_MISSING, 4)
    assert '"boxed" needs a container of its own' in str(needed)
    assert refusal(isolation="container", backend="process").exit_code == 4
    assert refusal(agent_image="alpine", backend="process").exit_code == 4


def test_shared_is_refused_for_a_case_in_need() -> None:
    error = refusal(needs=NEEDS, isolation="shared")
    assert (error.exit_code, error.next_step) == (2, "--isolation container")


@pytest.mark.parametrize(
    "flags",
    [
        {"base_image": "alpine"},
        {"setup_root": True},
        {"keep_containers": True},
        {"container_runtime": "podman"},
        {"agent_image": "alpine"},
    ],
)
def test_what_only_containers_of_attempts_have_is_refused_without_them(flags: dict[str, Any]) -> None:
    error = refusal(**flags)
    assert error.exit_code == 2
    assert f"{next(iter(flags)).replace('_', '-').replace('agent-image', 'image of the agent')}" in str(error)


def test_a_setup_that_is_to_run_as_root_and_to_be_skipped_is_a_contradiction() -> None:
    error = refusal(isolation="container", setup_root=True, no_setup=True)
    assert error.code is ErrorCode.BAD_USAGE
    assert "--setup-root --no-setup: are given together" in str(error)


def test_no_setup_takes_the_need_that_comes_from_setup_only() -> None:
    cases = [case_of(id="a", setup="true"), case_of(id="b", setup="true", image="alpine"), case_of(id="c")]
    assert own_container_needs(cases) == {"a": ("setup",), "b": ("setup", "image")}
    assert own_container_needs(cases, no_setup=True) == {"b": ("image",)}


def egress(model: str | None, *, model_url: str | None = None, backend: Backend = "compose", **given: bool) -> bool:
    given = {"asked": False, "declared": False} | given
    asker = agent(model=model, model_url=model_url)
    return decide_egress(asker, asked=given["asked"], declared=given["declared"], backend=backend)


def test_a_run_is_closed_unless_flag_or_agent_opens_it() -> None:
    assert not egress("scripted/support")
    assert not egress(None)
    assert egress(None, asked=True)
    assert egress("openai/gpt-5", declared=True)
    assert not egress("openai/gpt-5", model_url="http://gateway:8000/v1")
    assert not egress("openai/gpt-5", backend="process")


@pytest.mark.parametrize("model_url", [None, "https://api.example.com/v1", "http://10.1.2.3/v1"])
def test_a_model_outside_of_a_closed_network_is_refused_by_name(model_url: str | None) -> None:
    with pytest.raises(LabError) as caught:
        egress("openai/gpt-5", model_url=model_url)
    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.EGRESS_MISSING, 4)
    assert '"openai/gpt-5"' in str(caught.value)
    assert "next: --egress" in str(caught.value)


def test_the_image_is_the_cases_then_the_flags_then_the_agents_then_the_labs() -> None:
    cases = [case_of(id="own", image="debian:1"), case_of(id="same", image="alpine:3"), case_of(id="plain")]

    flag = base_images(cases, agent=agent(), agent_image="busybox", base_image="alpine:3")
    assert flag.of_case == {"own": "base:debian:1", "same": "base", "plain": "base"}
    assert flag.references == {"base:debian:1": "debian:1", "base": "alpine:3"}
    declared = base_images(cases[2:], agent=agent(), agent_image="busybox", base_image=None)
    assert declared.references == {"base": "busybox"}
    lab = base_images(cases[2:], agent=agent(), agent_image=None, base_image=None)
    assert (lab.of_case, lab.references) == ({"plain": "agent"}, {})


def test_docker_agent_agents_run_on_the_pinned_alpine_unless_env_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker_agent = agent("docker-agent")
    pinned = base_images([case_of()], agent=docker_agent, agent_image=None, base_image=None)
    assert pinned.references["base"].startswith("alpine:")
    assert "@sha256:" in pinned.references["base"]
    (tmp_path / "images.env").write_text("DOCKER_AGENT_BASE_IMAGE=a:1\n")
    (tmp_path / ".env").write_text("DOCKER_AGENT_BASE_IMAGE=b:2\n")
    monkeypatch.setattr(images, "ROOT", tmp_path)
    own = base_images([case_of()], agent=docker_agent, agent_image=None, base_image=None)
    assert own.references == {"base": "b:2"}
