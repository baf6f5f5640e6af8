"""Removes what dead runs left on the engine and on the disk, never what a live run owns."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.errors import ErrorCode, LabError
from driver.owner import life_of, owner_is_gone
from driver.scratch import dead_scratch_of, remove_dead_scratch, remove_kept_folder, unseen_scratch

if TYPE_CHECKING:
    from driver.stacks.ownership import Owned


@dataclass(frozen=True)
class Cleaned:
    """What was removed, in words, and the runs that own something and live."""

    removed: tuple[str, ...]
    spared_runs: tuple[str, ...] = ()
    kept_runs: tuple[str, ...] = ()
    """Runs whose containers are there because --keep-containers left them."""
    unseen: tuple[str, ...] = ()
    """Runs and folders of which nobody here can tell whether their owner lives."""


def clean_disk() -> Cleaned:
    """Remove the scratch folders of dead runs."""
    removed = tuple(f"folder {path}" for path in remove_dead_scratch())
    return Cleaned(removed=removed, unseen=tuple(map(str, unseen_scratch())))


def clean_engine(*, kept: bool = False) -> Cleaned:
    """Remove containers, networks and volumes whose owner is gone; raises LabError for an engine that fails.

    What --keep-containers left is removed only with `kept`, and its folder on this machine with it.
    """
    from driver.stacks.ownership import owned_things  # noqa: PLC0415 - costs 0.2 s, only with an engine

    things = [(thing, life_of(thing.owner)) for thing in owned_things()]
    dead = [thing for thing, life in things if life == "gone" and (kept or thing.kept is None)]
    waiting = {thing.run for thing, life in things if life == "gone" and thing.kept is not None and not kept}
    _remove(dead, of="dead runs", next_step="labctl clean --kept" if waiting else "labctl clean, once more")
    for folder in {thing.kept for thing in dead if thing.kept}:
        remove_kept_folder(folder)
    return Cleaned(
        removed=tuple(f"{thing.kind} {thing.name} of {thing.run}" for thing in dead),
        spared_runs=_runs(thing for thing, life in things if life == "lives"),
        kept_runs=tuple(sorted(waiting)),
        unseen=_runs(thing for thing, life in things if life == "unseen"),
    )


def _runs(things: Iterable[Owned]) -> tuple[str, ...]:
    return tuple(sorted({thing.run for thing in things}))


def reap_engine(run_id: str) -> list[str]:
    """Remove what dead owners of one run left on the engine, but for what was to be kept; their identities.

    Raises LabError for an engine that fails.
    """
    from driver.stacks.ownership import owned_things  # noqa: PLC0415 - as above

    dead = [one for one in owned_things() if one.run == run_id and one.kept is None and owner_is_gone(one.owner)]
    _remove(dead, of=f"the killed process of {run_id}", next_step="labctl clean")
    return sorted({one.owner for one in dead})


def _remove(things: Sequence[Owned], *, of: str, next_step: str) -> None:
    from driver.stacks.ownership import remove_all  # noqa: PLC0415 - as above

    if failed := remove_all(things):
        raise LabError(
            ErrorCode.ENGINE_FAILED,
            f"{len(failed)} of {len(things)} things that {of} left could not be removed",
            found=failed,
            next_step=next_step,
        )


def reap_disk(owners: Iterable[str]) -> None:
    """Remove the scratch folders of dead owners."""
    folders = [folder for owner in owners for folder in dead_scratch_of(owner)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
