"""Looks at everything a run needs from its environment and reports all of it at once."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, LabError
from driver.checkout import AGENT_HOST, LOCKS, ROOT
from driver.run_names import unfinished_runs
from driver.scratch import dead_scratch, temporary_folder, unseen_scratch

MIN_FREE_BYTES = 512 * 1024 * 1024
_SHOWN_NAMES = 5
MAX_POOL_NETWORKS = 25
"""The engine's default pool holds about 30 bridge networks; a run takes two."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `error` is what is wrong with it."""

    name: str
    text: str
    error: LabError | None = None


def examine(evidence: Path) -> Iterator[Finding]:
    """Every finding, one by one; nothing is changed, nothing is raised for what is wrong."""
    yield _finding("checkout", _checkout)
    yield _finding("evidence folder", lambda: _evidence(evidence))
    yield _finding("unsealed runs", lambda: _unsealed(evidence))
    yield _finding("git", _git)
    yield _finding("scratch folders", _scratch)
    engine = _finding("container engine", _engine)
    yield engine
    if engine.error is None:
        yield _finding("images", _images)
        yield _finding("network pool", _pool)
        yield _finding("left behind", _left_behind)


def _finding(name: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name, look())
    except LabError as error:
        return Finding(name, error.message, error)


def _checkout() -> str:
    needed = ["compose.yaml", *LOCKS, AGENT_HOST.relative_to(ROOT).as_posix()]
    missing = [name for name in needed if not (ROOT / name).is_file()]
    if missing:
        raise LabError(
            ErrorCode.STACK_UNHEALTHY,
            f"not in the checkout: {', '.join(missing)}",
            next_step="git status, then make setup",
        )
    return str(ROOT)


def _evidence(folder: Path) -> str:
    place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free
    except OSError as error:
        raise LabError(
            ErrorCode.EVIDENCE_UNWRITABLE,
            f"{place} cannot be written",
            cause=error.strerror,
            next_step=f"make {place} writable for uid {os.getuid()}, or use --evidence DIR",
        ) from error
    if free < MIN_FREE_BYTES:
        raise LabError(
            ErrorCode.EVIDENCE_UNWRITABLE,
            f"{place} has {free // 2**20} MiB left",
            expected=f"{MIN_FREE_BYTES // 2**20} MiB or more",
            next_step="free some space, or use --evidence DIR on another disk",
        )
    return f"{place}, {free // 2**30} GiB free"


def _unsealed(folder: Path) -> str:
    """No problem for a new run, so no error: what their owner may not know."""
    dead = [str(run) for run in unfinished_runs(folder)]
    if not dead:
        return "none that nobody writes any more"
    resumed = f"labctl resume {shlex.quote(dead[0])}"
    return f"{len(dead)} that nobody writes any more: {_first(dead)}; next: {resumed}, or remove it"


def _git() -> str:
    path = shutil.which("git")
    return path or "not there: the manifest will not name the suite's commit"


def _scratch() -> str:
    temporary_folder()
    dead = [str(path) for path in dead_scratch()]
    if dead:
        raise LabError(
            ErrorCode.LEFTOVERS,
            f"dead runs left {len(dead)} scratch folder{'s' if len(dead) > 1 else ''}: {_first(dead)}",
            next_step="labctl clean",
        )
    return "none left behind" + _unseen(len(unseen_scratch()))


def _unseen(count: int) -> str:
    return f"; {count} of another PID namespace or machine: cannot tell" if count else ""


def _first(names: list[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _engine() -> str:
    from driver.stacks.engine import engine_facts  # noqa: PLC0415 - costs 0.2 s

    facts = engine_facts()
    return f"{facts.engine} with Compose {facts.compose}"


def _images() -> str:
    from driver.stacks.images import checked_images, known_images  # noqa: PLC0415 - as above

    images = checked_images(known_images())
    return ", ".join(f"{service} {image.image_id[:19]}" for service, image in images.items())


def _pool() -> str:
    from driver.stacks.networks import bridge_networks  # noqa: PLC0415 - as above

    names = bridge_networks()
    if len(names) > MAX_POOL_NETWORKS:
        raise LabError(
            ErrorCode.NETWORK_POOL,
            f"{len(names)} bridge networks are near the end of the engine's default pool",
            next_step="labctl clean, or docker network prune",
        )
    return f"{len(names)} bridge networks"


def _left_behind() -> str:
    from driver.owner import life_of  # noqa: PLC0415 - as above
    from driver.stacks.ownership import owned_things  # noqa: PLC0415 - as above

    things = [(thing, life_of(thing.owner)) for thing in owned_things()]
    dead = [thing.name for thing, life in things if life == "gone" and thing.kept is None]
    if dead:
        raise LabError(
            ErrorCode.LEFTOVERS,
            f"dead runs left {len(dead)} things: {_first(dead)}",
            next_step="labctl clean",
        )
    kept = sum(thing.kind == "container" and thing.kept is not None and life == "gone" for thing, life in things)
    found = f"{kept} containers, kept on purpose; labctl clean --kept removes them" if kept else "nothing"
    return found + _unseen(sum(life == "unseen" for _, life in things))
