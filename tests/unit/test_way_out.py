"""Which service joins the network that leads out: the one that talks to the model, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.plan import AgentPlan
from driver.ports import UserServices, World
from driver.stacks.way_out import write_way_out
from tests.fakes.assignments import DIGEST
from tests.fakes.written_runs import plan_of


def services_out(folder: Path, **agent: Any) -> dict[str, Any]:
    plan = plan_of("greets").model_copy(update={"agent": AgentPlan(name="desk", digest=DIGEST, **agent)})
    world = World(
        plan=plan,
        suite=folder,
        agent_suite=folder,
        agent_env={},
        suite_root=folder,
        services=UserServices(services={"desk": {"image": "desk:1"}, "other": {"image": "other:1"}}),
    )
    services: dict[str, Any] = json.loads(write_way_out(folder, world).read_text())["services"]
    return services


@pytest.mark.parametrize(
    ("agent", "service", "networks"),
    [
        ({"adapter": "chat", "model": "openai/gpt"}, "eval-runner", ["tools", "control", "egress"]),
        ({"adapter": "command", "command": ("desk",)}, "agent", ["tools", "egress"]),
        ({"adapter": "http", "command": ("d",), "url": "http://localhost:{port}/"}, "agent", ["tools", "egress"]),
        ({"adapter": "http", "url": "http://desk:8080/v1"}, "desk", ["tools", "egress"]),
    ],
)
def test_only_what_talks_to_the_model_gets_out(
    tmp_path: Path, agent: dict[str, Any], service: str, networks: list[str]
) -> None:
    assert services_out(tmp_path, **agent) == {service: {"networks": networks}}


def test_a_way_out_that_nobody_could_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no service of this run serves the agent") as caught:
        services_out(tmp_path, adapter="http", url="http://gone:8080/v1")

    assert caught.value.code is ErrorCode.BAD_USAGE
