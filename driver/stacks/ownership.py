"""Who owns a container or network: labels that outlive a crash, and the question whether the owner still lives."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from python_on_whales import DockerClient

from driver.stacks.engine import bounded

RUN_LABEL = "labctl.run"
OWNER_LABEL = "labctl.owner"
PROJECT_LABEL = "com.docker.compose.project"


@dataclass(frozen=True)
class Owned:
    """A container or network that a run of labctl made."""

    kind: Literal["container", "network"]
    id: str
    name: str
    project: str
    run: str
    owner: str


def own_identity() -> str:
    """`pid:start time:boot id` of this process: what a label says of its owner."""
    return f"{os.getpid()}:{_started_at(os.getpid())}:{_boot_id()}"


def owner_lives(owner: str) -> bool:
    """True while the process that wrote the label runs; a pid that was given to another process is not it."""
    pid, started_at, boot_id = owner.split(":", 2)
    return boot_id == _boot_id() and started_at == _started_at(int(pid))


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _started_at(pid: int) -> str:
    """Field 22 of /proc/PID/stat, empty when the process is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in {"Z", "X"} else fields[19]


def owned_things() -> list[Owned]:
    """Every container and network of any run of labctl on this engine, containers first; raises LabError."""
    client = DockerClient()
    labels = {"label": RUN_LABEL}
    containers = bounded("docker ps", lambda: client.container.list(all=True, filters=labels))
    networks = bounded("docker network ls", lambda: client.network.list(filters=labels))
    return [
        *(_owned("container", each.id, each.name, each.config.labels or {}) for each in containers),
        *(_owned("network", each.id, each.name, each.labels or {}) for each in networks),
    ]


def _owned(kind: Literal["container", "network"], thing_id: str, name: str, labels: dict[str, str]) -> Owned:
    return Owned(
        kind=kind,
        id=thing_id,
        name=name,
        project=labels.get(PROJECT_LABEL, ""),
        run=labels[RUN_LABEL],
        owner=labels.get(OWNER_LABEL, "0::"),
    )


def remove(thing: Owned) -> None:
    """Remove one container, with its anonymous volumes, or network; raises LabError."""
    client = DockerClient()
    if thing.kind == "container":
        bounded(f"docker rm {thing.name}", lambda: client.container.remove(thing.id, force=True, volumes=True))
    else:
        bounded(f"docker network rm {thing.name}", lambda: client.network.remove(thing.id))
