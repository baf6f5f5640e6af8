"""Containers, networks and volumes by the labels that say which run made them and who owns it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from python_on_whales import DockerClient
from python_on_whales.exceptions import NoSuchContainer, NoSuchNetwork, NoSuchVolume

from contracts.errors import Found, LabError
from driver.stacks.engine import bounded

RUN_LABEL = "labctl.run"
OWNER_LABEL = "labctl.owner"
KEPT_LABEL = "labctl.kept"
"""On what --keep-containers leaves: the folder on this machine that goes with it."""
PROJECT_LABEL = "com.docker.compose.project"


Kind = Literal["container", "network", "volume"]


@dataclass(frozen=True)
class Owned:
    """A container, network or volume that a run of labctl made."""

    kind: Kind
    id: str
    name: str
    run: str
    owner: str
    kept: str | None = None
    """The folder of what --keep-containers left; None for everything else."""


def owned_things() -> list[Owned]:
    """Everything of any run of labctl on this engine, containers first, which hold the rest; raises LabError."""
    containers = bounded("docker ps", lambda: list(_containers()))
    networks = bounded("docker network ls", lambda: list(_networks()))
    volumes = bounded("docker volume ls", lambda: list(_volumes()))
    return containers + networks + volumes


def _containers() -> Iterator[Owned]:
    for container in DockerClient().container.list(all=True, filters={"label": RUN_LABEL}):
        with suppress(NoSuchContainer):  # it ended while it was looked at
            yield _owned("container", container.id, container.name, container.config.labels or {})


def _networks() -> Iterator[Owned]:
    for network in DockerClient().network.list(filters={"label": RUN_LABEL}):
        with suppress(NoSuchNetwork):  # as above
            yield _owned("network", network.id, network.name, network.labels or {})


def _volumes() -> Iterator[Owned]:
    for volume in DockerClient().volume.list(filters={"label": RUN_LABEL}):
        with suppress(NoSuchVolume):  # as above
            yield _owned("volume", volume.name, volume.name, volume.labels or {})


def _owned(kind: Kind, thing_id: str, name: str, labels: dict[str, str]) -> Owned:
    return Owned(
        kind=kind,
        id=thing_id,
        name=name,
        run=labels[RUN_LABEL],
        owner=labels.get(OWNER_LABEL, ""),
        kept=labels.get(KEPT_LABEL),
    )


def remove_all(things: Iterable[Owned]) -> list[Found]:
    """Remove containers, with their anonymous volumes, and networks; what could not be removed, and why."""
    failed = []
    for thing in things:
        try:
            bounded(f"docker {thing.kind} rm {thing.name}", partial(_remove, thing))
        except LabError as error:
            failed.append(Found(error.cause or error.message, place=thing.name))
    return failed


def _remove(thing: Owned) -> None:
    client = DockerClient()
    with suppress(NoSuchContainer, NoSuchNetwork, NoSuchVolume):  # somebody else was quicker
        if thing.kind == "container":
            client.container.remove(thing.id, force=True, volumes=True)
        elif thing.kind == "network":
            client.network.remove(thing.id)
        else:
            client.volume.remove(thing.id)
