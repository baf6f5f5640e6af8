"""The third network: what --egress, or the agent's egress, adds to the one service that talks to the model."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

from contracts.errors import ErrorCode, Found, LabError
from driver.owner import own_identity
from driver.ports import World
from driver.stacks.ownership import OWNER_LABEL, RUN_LABEL

NETWORK = "egress"


def write_way_out(folder: Path, world: World) -> Path:
    """A file for Compose to merge: the network, joined by the runner for chat, else by whatever serves the agent.

    With containers of attempts no service joins it, so Compose makes none: they get one of their own. Raises LabError
    BAD_USAGE for an http agent that no service of the stack serves: the network would be nobody's.
    """
    labels = {RUN_LABEL: world.plan.run_id, OWNER_LABEL: own_identity()}
    service, own = _talks_to_the_model(world)
    merged = {
        "services": {service: {"networks": [*own, NETWORK]}},
        "networks": {NETWORK: {"enable_ipv6": False, "labels": labels}},
    }
    path = folder / "way-out.json"  # JSON is YAML
    path.write_text(json.dumps(merged))
    return path


def agent_service(world: World) -> str | None:
    """The service of compose_files that the agent's URL names; None where it names none."""
    host = urlsplit(world.plan.agent.url or "").hostname
    return host if host in world.services.services else None


def _talks_to_the_model(world: World) -> tuple[str, list[str]]:
    """The service, and the networks that it is on without egress."""
    agent = world.plan.agent
    if agent.adapter == "chat":
        return "eval-runner", ["tools", "control"]
    if agent.adapter != "http" or agent.needs_host:
        return "agent", ["tools"]
    if service := agent_service(world):
        return service, ["tools"]
    raise LabError(
        ErrorCode.BAD_USAGE,
        f'egress is asked for, and no service of this run serves the agent "{agent.name}"',
        found=[Found(agent.url or "no url", place=f"agents.{agent.name}.url")],
        expected="a url that names a service of compose_files, whose profile is on",
        next_step="leave out --egress and egress = true, or name the service, or give its --profile",
    )
