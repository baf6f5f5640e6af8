"""Containers and networks by the labels that say which run made them and who owns it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from python_on_whales import DockerClient
from python_on_whales.exceptions import NoSuchContainer, NoSuchNetwork

from contracts.errors import Found, LabError
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
    run: str
    owner: str


def owned_things() -> list[Owned]:
    """Every container and network of any run of labctl on this engine, containers first; raises LabError."""
    containers = bounded("docker ps", lambda: list(_containers()))
    networks = bounded("docker network ls", lambda: list(_networks()))
    return containers + networks


def _containers() -> Iterator[Owned]:
    for container in DockerClient().container.list(all=True, filters={"label": RUN_LABEL}):
        with suppress(NoSuchContainer):  # it ended while it was looked at
            yield _owned("container", container.id, container.name, container.config.labels or {})


def _networks() -> Iterator[Owned]:
    for network in DockerClient().network.list(filters={"label": RUN_LABEL}):
        with suppress(NoSuchNetwork):  # as above
            yield _owned("network", network.id, network.name, network.labels or {})


def _owned(kind: Literal["container", "network"], thing_id: str, name: str, labels: dict[str, str]) -> Owned:
    return Owned(kind=kind, id=thing_id, name=name, run=labels[RUN_LABEL], owner=labels.get(OWNER_LABEL, ""))


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
    with suppress(NoSuchContainer, NoSuchNetwork):  # somebody else was quicker
        if thing.kind == "container":
            client.container.remove(thing.id, force=True, volumes=True)
        else:
            client.network.remove(thing.id)
