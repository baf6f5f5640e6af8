"""Removes what dead runs left on the engine, never what a live run owns."""

from __future__ import annotations

from dataclasses import dataclass

from driver.stacks.ownership import Owned, owned_things, owner_lives, remove


@dataclass(frozen=True)
class Cleaned:
    """What was removed, and what a live run still owns."""

    removed: tuple[Owned, ...]
    spared: tuple[Owned, ...]


def clean() -> Cleaned:
    """Remove containers, then networks, whose owner is gone; raises LabError for an engine that fails."""
    things = owned_things()
    dead = tuple(thing for thing in things if not owner_lives(thing.owner))
    for thing in dead:
        remove(thing)
    return Cleaned(removed=dead, spared=tuple(thing for thing in things if thing not in dead))
