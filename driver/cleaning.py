"""Removes what dead runs left on the engine and on the disk, never what a live run owns."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, LabError
from driver.owner import own_identity, owner_is_gone
from driver.scratch import dead_scratch_of, own_dead_scratch, remove_dead_scratch, remove_kept_folder


@dataclass(frozen=True)
class Cleaned:
    """What was removed, in words, and the runs that own something and may live."""

    removed: tuple[str, ...]
    spared_runs: tuple[str, ...]
    kept_runs: tuple[str, ...] = ()
    """Runs whose containers are there because --keep-containers left them."""


def clean_disk() -> Cleaned:
    """Remove the scratch folders of dead runs."""
    return Cleaned(removed=tuple(f"folder {path}" for path in remove_dead_scratch()), spared_runs=())


def clean_engine(*, kept: bool = False) -> Cleaned:
    """Remove containers, networks and volumes whose owner is gone; raises LabError for an engine that fails.

    What --keep-containers left is removed only with `kept`, and its folder on this machine with it. Folders of dead
    runs that `clean_disk` could not remove, because they hold files of root's, are removed through a container.
    """
    from driver.stacks.ownership import owned_things, remove_all  # noqa: PLC0415 - costs 0.2 s, only with an engine

    things = owned_things()
    dead = [thing for thing in things if owner_is_gone(thing.owner) and (kept or thing.kept is None)]
    waiting = {thing.run for thing in things if thing not in dead and thing.kept is not None}
    if failed := remove_all(dead):
        raise LabError(
            ErrorCode.ENGINE_FAILED,
            f"{len(failed)} of {len(dead)} things that dead runs left could not be removed",
            found=failed,
            next_step="labctl clean --kept" if waiting else "labctl clean, once more",
        )
    stayed = [remove_kept_folder(folder) for folder in sorted({thing.kept for thing in dead if thing.kept})]
    folders = [*own_dead_scratch(), *(folder for folder in stayed if folder is not None)]
    _remove_with_files_of_others(folders)
    return Cleaned(
        removed=(
            *(f"{thing.kind} {thing.name} of {thing.run}" for thing in dead),
            *(f"folder {folder}, with files of another user" for folder in folders),
        ),
        spared_runs=tuple(sorted({thing.run for thing in things if thing not in dead} - waiting)),
        kept_runs=tuple(sorted(waiting)),
    )


def reap_engine(run_id: str) -> list[str]:
    """Remove what dead owners of one run left on the engine, but for what was to be kept; their identities.

    Raises LabError for an engine that fails.
    """
    from driver.stacks.ownership import owned_things, remove_all  # noqa: PLC0415 - as above

    dead = [one for one in owned_things() if one.run == run_id and one.kept is None and owner_is_gone(one.owner)]
    if failed := remove_all(dead):
        raise LabError(
            ErrorCode.ENGINE_FAILED,
            f"{len(failed)} of {len(dead)} things that the killed process of {run_id} left could not be removed",
            found=failed,
            next_step="labctl clean",
        )
    return sorted({one.owner for one in dead})


def reap_disk(owners: Iterable[str], *, has_engine: bool) -> None:
    """Remove the scratch folders of dead owners; where there are files of containers in them, through one."""
    folders = [folder for owner in owners for folder in dead_scratch_of(owner)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    if has_engine:
        _remove_with_files_of_others(folder for folder in folders if folder.exists())


def _remove_with_files_of_others(folders: Iterable[Path]) -> None:
    from driver.stacks.foreign_files import empty_folder  # noqa: PLC0415 - as above
    from driver.stacks.images import ENV_FILE, VARIABLES, read_env_file  # noqa: PLC0415 - as above
    from driver.stacks.ownership import OWNER_LABEL, RUN_LABEL  # noqa: PLC0415 - as above

    for folder in folders:
        image = read_env_file(ENV_FILE)[VARIABLES["agent"]]
        empty_folder(folder, runtime="docker", image=image, labels={RUN_LABEL: "clean", OWNER_LABEL: own_identity()})
        folder.rmdir()
