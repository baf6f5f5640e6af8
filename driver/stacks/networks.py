"""The engine's pool of address ranges: told when it is exhausted, with the networks that hold it."""

from __future__ import annotations

from contextlib import suppress

from python_on_whales import DockerClient
from python_on_whales.exceptions import NoSuchNetwork

from contracts.errors import ErrorCode, Found, LabError
from driver.stacks.engine import bounded
from driver.stacks.ownership import PROJECT_LABEL

_EXHAUSTED = (
    "predefined address pools have been fully subnetted",
    "could not find an available, non-overlapping IPv4 address pool",
)
"""The engine's own words, of newer and older versions; there is no code for it."""


def pool_exhausted(cause: str, *, project: str) -> LabError | None:
    """The error that names the pool and who else holds it, if that is what the engine said to a Compose project."""
    if not any(words in cause for words in _EXHAUSTED):
        return None
    # the project's own half is removed before anybody reads this
    bridges = {name: labels for name, labels in bridge_networks().items() if labels.get(PROJECT_LABEL) != project}
    return LabError(
        ErrorCode.NETWORK_POOL,
        f"the engine has no address range left for a network: {len(bridges)} bridge networks hold the default pool",
        found=[Found(_owner(labels), place=name) for name, labels in bridges.items()],
        cause=cause,
        next_step="labctl clean, or docker network prune, or larger default-address-pools in the engine's daemon.json",
    )


def bridge_networks() -> dict[str, dict[str, str]]:
    """Name to labels of every network that takes a range of the pool; raises LabError."""
    found: dict[str, dict[str, str]] = {}
    for network in bounded("docker network ls", DockerClient().network.list):
        with suppress(NoSuchNetwork):  # it went while it was looked at, and its range with it
            if network.driver == "bridge":
                found[network.name] = network.labels or {}
    return found


def _owner(labels: dict[str, str]) -> str:
    project = labels.get(PROJECT_LABEL)
    return f"of Compose project {project}" if project else "of no Compose project"
