"""Sorts what differs around the behaviour into subject, drift and context, by the table of KEYs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from comparison.keys import KEYS, Documents, Key, Kind
from comparison.sides import Side
from contracts import evidence
from contracts.comparison import Difference
from contracts.record import Json


@dataclass(frozen=True)
class Differences:
    """Every KEY whose values are unequal, in the order of the table."""

    subject: tuple[Difference, ...]
    drift: tuple[Difference, ...]
    context: tuple[Difference, ...]

    @property
    def forbidden(self) -> tuple[Difference, ...]:
        """Drift that was not allowed: the runs are not comparable."""
        return tuple(one for one in self.drift if not one.allowed)


def documents_of(side: Side) -> Documents:
    """What the KEYs are taken from."""
    plan = side.plan.to_json() | {"repeat": max((case.repeats for case in side.rows.cases), default=1)}
    return {evidence.ENVIRONMENT: side.manifest.to_json(), evidence.PLAN: plan}


def differences(baseline: Side, candidate: Side, *, allowed: Collection[str]) -> Differences:
    """What differs; `allowed` are the KEYs of drift that may."""
    sides = documents_of(baseline), documents_of(candidate)
    found: dict[Kind, list[Difference]] = {"subject": [], "drift": [], "context": []}
    for key in KEYS:
        was, now = (key.value(documents) for documents in sides)
        is_unneeded = key.is_as_needed and (was is None or now is None)
        if was != now and not is_unneeded:
            found[key.kind].append(_difference(key, was, now, allowed=key.name in allowed))
    return Differences(*(tuple(found[kind]) for kind in ("subject", "drift", "context")))


def _difference(key: Key, was: Json, now: Json, *, allowed: bool) -> Difference:
    is_reused = key.is_revision and was is not None and now is not None and was["revision"] == now["revision"]
    if not key.is_revision and isinstance(was, dict) and isinstance(now, dict):
        was, now = _only_different(was, now), _only_different(now, was)
    return Difference(
        key=key.name,
        baseline=was,
        candidate=now,
        file=key.file,
        pointer=key.pointer,
        label_reused=is_reused,
        allowed=allowed and key.kind == "drift",
    )


def _only_different(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in one.items() if name not in other or other[name] != value}


def named(found: Iterable[Difference]) -> str:
    """The KEYs, as a sentence lists them."""
    return ", ".join(difference.key for difference in found)
