"""The third network: what --egress, or the agent's egress, adds to the one service that talks to the model."""

from __future__ import annotations

import json
from pathlib import Path

from driver.owner import own_identity
from driver.ports import World
from driver.stacks.ownership import OWNER_LABEL, RUN_LABEL

NETWORK = "egress"


def write_way_out(folder: Path, world: World) -> Path:
    """A file for Compose to merge: the network, joined by the runner for chat, else by the shared agent.

    With containers of attempts no service joins it, so Compose makes none: they get one of their own.
    """
    service, own = ("eval-runner", ["tools", "control"]) if world.plan.agent.adapter == "chat" else ("agent", ["tools"])
    labels = {RUN_LABEL: world.plan.run_id, OWNER_LABEL: own_identity()}
    merged = {
        "services": {service: {"networks": [*own, NETWORK]}},
        "networks": {NETWORK: {"enable_ipv6": False, "labels": labels}},
    }
    path = folder / "way-out.json"  # JSON is YAML
    path.write_text(json.dumps(merged))
    return path
