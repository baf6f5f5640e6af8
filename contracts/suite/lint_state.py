"""The rule that what routes take out of the state is no misspelling of what the state of some case can have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from contracts.record import Json
from contracts.suite.all_routes import all_routes
from contracts.suite.files import SuiteFiles
from contracts.suite.problems import Place, Problem, nearest, unknown_name
from contracts.suite.route import Effect, Route

_MAKES = frozenset({"add", "copy", "move"})
"""The operations that make what their path ends with."""
_NO_ESCAPE = re.compile(r"~(?![01])")
_PlacedRoute = tuple[Route, Place]


def lint_state(files: SuiteFiles) -> Iterator[Problem]:
    """A problem for each `$state` and effect whose first step is a misspelling of what some attempt's state can have.

    Only the first step is judged, and only where it is literal: what is below depends on requests. One that looks like
    nothing that is there may be meant to fail; the attempt then says so.
    """
    routes = all_routes(files)
    known = None if routes is None else _known(files, routes)
    if routes is None or known is None:
        return
    for route, place in routes:
        for pointer, here, reads in _taken(route, place):
            first = _first(pointer)
            if first is not None and first not in known and nearest(first, known):
                yield Problem(unknown_name("member of the state", first, known), here, reads=reads)


def _known(files: SuiteFiles, routes: Iterable[_PlacedRoute]) -> set[str] | None:
    """Every first step that some attempt's state can have; None where nobody can tell."""
    known = _written(files)
    if known is None:
        return None
    for index, case in files.cases.having("state"):
        if files.broken.is_lost(files.cases.place(index) / "state"):
            return None
        known.update(case.state or ())
    for route, place in routes:
        made = _made(files, route, place / "effects")
        if made is None:
            return None
        known |= made
    return known


def _written(files: SuiteFiles) -> set[str] | None:
    """The members of state.json, of which there are none without the file; None where it cannot be read."""
    if files.state is not None:
        if any(problem.place and problem.place.document is files.state for problem in files.problems.listed):
            return None
        return set(files.state.value) if isinstance(files.state.value, dict) else None
    place = files.setting("state")
    is_named = "state" in files.settings.model_fields_set or (place is not None and files.broken.is_lost(place))
    is_there = is_named or files.are_settings_unread or _is_there(files.folder.root / files.settings.state)
    return None if is_there else set()


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _made(files: SuiteFiles, route: Route, place: Place) -> set[str] | None:
    """What the route's effects make at the top of the state; None where that may be anything."""
    if files.broken.is_lost(place):
        return None
    made: set[str] = set()
    for index, effect in enumerate(route.effects):
        here = place / index
        if files.broken.is_lost(here / "op"):
            return None
        if effect.op in _MAKES or (effect.op == "replace" and not effect.path):
            first = _first(effect.path)
            if files.broken.is_lost(here / "path") or (first is None and effect.path.count("/") <= 1):
                return None
            if first is not None and effect.path.count("/") == 1:
                made.add(first)
    return made


def _taken(route: Route, place: Place) -> Iterator[tuple[str, Place, tuple[Place, ...]]]:
    """Each pointer that must lead somewhere, where it is written, and what says that it must."""
    for index, response in enumerate(route.responses):
        for pointer, here in _references(response.json_body, place / "responses" / index / "json"):
            yield pointer, here, (here,)
    for index, effect in enumerate(route.effects):
        here = place / "effects" / index
        for pointer, at in _references(effect.value, here / "value"):
            yield pointer, at, (at,)
        for pointer, at in _read_by(effect, here):
            yield pointer, at, (at, here / "op")


def _read_by(effect: Effect, place: Place) -> Iterator[tuple[str, Place]]:
    """The pointers of an effect that must lead somewhere, or whose parent must."""
    if effect.op not in _MAKES or effect.path.count("/") > 1:
        yield effect.path, place / "path"
    if effect.op in {"move", "copy"} and effect.from_path is not None:
        yield effect.from_path, place / "from"


def _references(value: Json, place: Place) -> Iterator[tuple[str, Place]]:
    """The pointers of all `$state` in a JSON value."""
    waiting = [(value, place)]
    while waiting:
        value, here = waiting.pop()
        if isinstance(value, dict):
            if value.keys() == {"$state"} and isinstance(value["$state"], str):
                yield value["$state"], here / "$state"
            waiting += [(one, here / key) for key, one in value.items()]
        elif isinstance(value, list):
            waiting += [(one, here / index) for index, one in enumerate(value)]


def _first(pointer: str) -> str | None:
    """The first step; None where it may be any, or where the pointer is none or has no step."""
    start, slash, rest = pointer.partition("/")
    first = rest.partition("/")[0]
    if start or not slash or "{" in first or _NO_ESCAPE.search(pointer):
        return None
    return first.replace("~1", "/").replace("~0", "~")
