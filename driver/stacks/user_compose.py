"""What a user's compose files may bring into the stack, and what the lab makes of it; reads models, touches nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from contracts.errors import Found
from driver.stacks.images import VARIABLES
from driver.stacks.ownership import OWNER_LABEL, RUN_LABEL

NETWORK = "tools"
LAB_SERVICES = frozenset(VARIABLES)
WAITED_FOR = "fixture-api"
"""The only service of the lab that a user's may depend on: the others depend on it, or are not for it."""
_KEPT = frozenset(
    {
        *("image", "command", "entrypoint", "environment", "healthcheck", "working_dir", "user", "depends_on"),
        *("volumes", "tmpfs", "read_only", "init", "stop_signal", "mem_limit", "pids_limit", "cpus", "shm_size"),
        *("labels", "platform", "ulimits", "hostname"),
    }
)
_LEFT_OUT = frozenset({"profiles", "networks", "build", "pull_policy", "restart", "expose", "stop_grace_period"})
"""Allowed, and decided by the lab."""
_HARMLESS: dict[str, Any] = {"cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
"""Allowed as the lab sets them anyway."""
_WHY_NOT = {
    "ports": "publishes a port: two runs at once would meet there, and the closed network is left",
    "privileged": "is privileged: nothing would keep it in",
    "network_mode": "leaves the network tools",
    "container_name": "has a fixed name: two runs at once would meet there",
    "pid": "sees the host's processes",
    "ipc": "shares memory with the host or others",
    "cap_add": "takes capabilities",
    "devices": "takes devices of the host",
    "extra_hosts": "names hosts outside of the stack",
    "volumes_from": "takes the files of another service",
}
_ROOT = re.compile(r"root|[+-]?0+|")
"""What engines take for uid 0; nobody at all is whom the image names, most often root."""
Folder = Callable[[Path], str | None]
"""Why a path on the host may not be mounted; None where it may."""


def problems_of(model: Mapping[str, Any], *, file: str, services: frozenset[str], refusal: Folder) -> Iterator[Found]:
    """Everything that no compose file of a suite may do; `services` are those of all its files together."""
    for name, service in model.get("services", {}).items():
        place = f"services.{name}"
        if name in LAB_SERVICES:
            yield Found("is a service of the lab, which is not redefined", file, place)
            continue
        for key, why in _refused(service, services=services, refusal=refusal):
            yield Found(why, file, f"{place}.{key}")


def _refused(service: Mapping[str, Any], *, services: frozenset[str], refusal: Folder) -> Iterator[tuple[str, str]]:
    """Keys of a service, each with what is wrong with it."""
    for key, value in service.items():
        if not _is_allowed(key, value):
            yield key, _WHY_NOT.get(key, f"is not for a service of a suite; allowed: {', '.join(sorted(_KEPT))}")
    for network in service.get("networks") or {}:
        if network not in {NETWORK, "default"}:
            yield "networks", f'joins "{network}"; a service of a suite joins {NETWORK} only'
    for other in service.get("depends_on") or {}:
        if other not in services | {WAITED_FOR}:
            yield "depends_on", f'"{other}" is neither a service of compose_files nor {WAITED_FOR}'
    yield from _refused_values(service, refusal)


def _refused_values(service: Mapping[str, Any], refusal: Folder) -> Iterator[tuple[str, str]]:
    user = service.get("user")
    if user is not None and _ROOT.fullmatch(str(user).partition(":")[0]):
        yield "user", "is root; expected another user, or none for the lab's"
    for index, volume in enumerate(service.get("volumes") or ()):
        if why := _mount_refusal(volume, refusal):
            yield f"volumes.{index}", why


def _is_allowed(key: str, value: Any) -> bool:
    return key in _KEPT | _LEFT_OUT or value in (None, False, [], {}) or value == _HARMLESS.get(key)


def _mount_refusal(volume: Mapping[str, Any], refusal: Folder) -> str | None:
    kind = volume.get("type")
    if kind == "tmpfs":
        return None
    if kind != "bind":
        return f"is a {kind}; expected a tmpfs, or a folder of the suite, which is mounted read-only"
    return refusal(Path(volume["source"]))


def is_active(service: Mapping[str, Any], profiles: tuple[str, ...]) -> bool:
    """As Compose has it: a service without profiles is always on."""
    own = service.get("profiles") or ()
    return not own or not set(own).isdisjoint(profiles)


def profiles_in(model: Mapping[str, Any]) -> frozenset[str]:
    """Every profile that a service declares."""
    return frozenset(
        profile for service in model.get("services", {}).values() for profile in service.get("profiles") or ()
    )


def stack_part(
    services: Mapping[str, Mapping[str, Any]],
    *,
    images: Mapping[str, str],
    moved: Callable[[Path], Path],
    env: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """What is merged over the stack: the services, hardened and owned by the run, and a runner that waits for them.

    `images` are ids by service, `moved` says where a folder of the suite is staged, `env` is added by service.
    """
    part: dict[str, Any] = {
        name: _hardened(service, image=images[name], moved=moved, env=env.get(name, {}))
        for name, service in services.items()
    }
    waits = {name: {"condition": _condition(service)} for name, service in services.items()}
    return {"services": {**part, "eval-runner": {"depends_on": waits}}}


def _condition(service: Mapping[str, Any]) -> str:
    check = service.get("healthcheck")
    return "service_healthy" if check and not check.get("disable") else "service_started"


def _hardened(
    service: Mapping[str, Any], *, image: str, moved: Callable[[Path], Path], env: Mapping[str, str]
) -> dict[str, Any]:
    kept = {key: value for key, value in service.items() if key in _KEPT and value is not None}
    defaults = {
        "user": "${LAB_UID}:${LAB_GID}",
        "read_only": True,
        "tmpfs": ["/tmp:mode=1777"],  # noqa: S108 - in the container
        "mem_limit": "${LAB_MEMORY_MB}m",
        "pids_limit": "${LAB_PIDS}",
    }
    added = {name: value.replace("$", "$$") for name, value in env.items()}
    return {
        **defaults,
        **kept,
        **_HARMLESS,
        "image": image,
        "pull_policy": "never",
        "restart": "no",
        "stop_grace_period": "2s",
        "networks": [NETWORK],
        "environment": {**(service.get("environment") or {}), **added},
        "labels": {**(service.get("labels") or {}), RUN_LABEL: "${LAB_RUN_ID}", OWNER_LABEL: "${LAB_OWNER}"},
        "volumes": [_mount(volume, moved) for volume in service.get("volumes") or ()],
    }


def _mount(volume: Mapping[str, Any], moved: Callable[[Path], Path]) -> Mapping[str, Any]:
    if volume["type"] != "bind":
        return volume
    source = str(moved(Path(volume["source"]))).replace("$", "$$")
    return {**volume, "source": source, "read_only": True, "bind": {"create_host_path": False}}
