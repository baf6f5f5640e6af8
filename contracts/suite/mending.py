"""Mends a document of the wrong shape, so that all of its parts that are right by themselves can still be judged.

What has the wrong shape is taken out or replaced by a stand-in of the right one, and its path is told: the stand-in is
there only so that the rest is a record, and `contracts.suite.broken` keeps every rule from judging it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from contracts.json_text import is_unicode
from contracts.record import Json
from contracts.suite.broken import UNKNOWN
from contracts.suite.places import Path
from contracts.suite.problems import nearest
from contracts.suite.reading import UnfitNumber
from contracts.suite.stand_ins import NO_NAME, StandIns, stand_ins
from contracts.suite.wording import path_in

M = TypeVar("M", bound=BaseModel)

_DEEPEST = 150
"""Levels that pydantic's reader surely takes."""
_ROUNDS = 4
"""Wrong members of a union show only when what hides them is mended; one round is nearly always enough."""


def mended(model: type[M], value: Json) -> tuple[M | None, set[Path]]:
    """The record of what is right in a readable value, and the paths of what is not; None where nothing is.

    The value is changed meanwhile. A key that is missing is broken too, and so is the known key that an unknown one
    beside it is a misspelling of.
    """
    broken: set[Path] = set()
    for _ in range(_ROUNDS):
        try:
            return model.model_validate_json(json.dumps(value), by_alias=True, by_name=False), broken
        except ValidationError as error:
            value = _mend(value, error.errors(include_url=False), stand_ins(model), broken)
    return None, broken


def readable(value: Json) -> tuple[Json, set[Path]]:
    """A copy without what no reader takes, and where that was.

    These are unfit numbers, halves of surrogate pairs, and what is nested too deeply.
    """
    refused: set[Path] = set()
    return _readable(value, (), refused), refused


def _readable(value: Json, path: Path, refused: set[Path]) -> Json:
    if isinstance(value, dict | list):
        if len(path) >= _DEEPEST:
            refused.add(path)
            return None
        if isinstance(value, list):
            return [_readable(one, (*path, index), refused) for index, one in enumerate(value)]
        for key in value:
            if not is_unicode(key):
                refused |= {(*path, key), (*path, UNKNOWN)}
        return {key: _readable(one, (*path, key), refused) for key, one in value.items() if is_unicode(key)}
    if isinstance(value, UnfitNumber) or (isinstance(value, str) and not is_unicode(value)):
        refused.add(path)
        return 0 if isinstance(value, UnfitNumber) else NO_NAME
    return value


def _mend(value: Json, details: list[ErrorDetails], made: StandIns, broken: set[Path]) -> Json:
    """The value with each of the errors mended, the outer ones first: what is replaced has no errors any more."""
    whole = {"": value}
    replaced: set[Path] = set()
    located = sorted(((path_in(value, one["loc"]), one) for one in details), key=lambda one: len(one[0]))
    for path, detail in located:
        # A list whose items are wrong counts as short too: only the items are mended.
        is_short = detail["type"] == "too_short" and any(_is_above(path, other) for other, _ in located)
        if is_short or any(path[:length] in replaced for length in range(len(path) + 1)):
            continue
        kind, last = detail["type"], detail["loc"][-1] if detail["loc"] else ""
        if kind == "extra_forbidden":
            broken.update(_meant(_at(value, path[:-1]), path, made))
            del _at(value, path[:-1])[path[-1]]
            replaced.add(path)
        elif kind == "missing" and isinstance(last, str):
            broken.add((*path, last))
            _at(value, path)[last] = made.at((*path, last))
        else:
            broken.add(path)
            replaced.add(path)
            parent: Any = _at(whole, ("", *path[:-1])) if path else whole
            parent[path[-1] if path else ""] = made.at(path)
    return whole[""]


def _meant(beside: dict[str, Json], path: Path, made: StandIns) -> Iterator[Path]:
    """What an unknown key leaves in doubt: itself, the key that it may misspell, and what needs any such key."""
    parent = path[:-1]
    yield path
    yield (*parent, UNKNOWN)
    near = nearest(str(path[-1]), sorted(made.keys_at(parent)))
    if near is not None and near not in beside:
        yield (*parent, near)
    elif isinstance(beside.get(near or ""), dict):
        yield (*parent, str(near), UNKNOWN)  # what stands below the unknown key may belong into that object


def _is_above(path: Path, other: Path) -> bool:
    return len(path) < len(other) and other[: len(path)] == path


def _at(value: Json, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value
