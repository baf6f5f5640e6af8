"""The rules of `$state` and `$request`, and of pointers with `{param}` in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.problems import Place, Problem, nearest, unknown_name
from contracts.suite.wording import describe

_PARAM = re.compile(r"\{([^{}]*)\}")
_POINTER = re.compile(r"(/([^~/]|~[01])*)*")
_REQUEST_PARTS = ("path", "query", "json")
_REFERENCES = ("$state", "$request")
_AS_NEAR_AS_A_TYPO = 0.85
"""So near that `$stat` is `$state` and MongoDB's `$date` is itself."""


class Params(NamedTuple):
    """The parameters of a route's path, and where that path is."""

    names: Collection[str]
    path: Place


def lint_template(value: Json, place: Place, *, params: Params) -> Iterator[Problem]:
    """What is wrong with the references anywhere in a JSON value; `params` are those of the route."""
    waiting = [(value, place)]
    while waiting:
        value, here = waiting.pop()
        if isinstance(value, dict):
            yield from _lint_object(value, here, params=params)
            waiting += [(one, here / key) for key, one in value.items()]
        elif isinstance(value, list):
            waiting += [(one, here / index) for index, one in enumerate(value)]


def has_reference(value: Json) -> bool:
    """True when some part of a JSON value is replaced by state or request."""
    if isinstance(value, dict):
        return any(key in value for key in _REFERENCES) or any(map(has_reference, value.values()))
    return isinstance(value, list) and any(map(has_reference, value))


def lint_pointer(pointer: str, place: Place, *, params: Params) -> Iterator[Problem]:
    """What is wrong with an RFC 6901 pointer that may hold `{param}`."""
    if not _POINTER.fullmatch(pointer):
        yield Problem(f'"{pointer}" is no JSON pointer; expected one such as /refunds/-', place)
        return
    for name in _PARAM.findall(pointer):
        if name not in params.names:
            yield _unknown_param(name, place, params)


def _unknown_param(name: str, place: Place, params: Params) -> Problem:
    return Problem(unknown_name("parameter of the path", name, params.names), place, reads=(place, params.path))


def _lint_object(value: dict[str, Json], place: Place, *, params: Params) -> Iterator[Problem]:
    for key, reference in value.items():
        here = place / key
        if key not in _REFERENCES:
            near = nearest(key, _REFERENCES, cutoff=_AS_NEAR_AS_A_TYPO) if key.startswith("$") else None
            if near and len(value) == 1:
                yield Problem(f'unknown reference "{key}"; did you mean "{near}"?', here)
            continue
        if len(value) > 1:
            yield Problem(f'"{key}" stands for the whole object; no other key may be beside it', place)
        elif not isinstance(reference, str):
            yield Problem(f"expected a JSON pointer, found {describe(reference)}", here)
        elif key == "$state":
            yield from lint_pointer(reference, here, params=params)
        else:
            yield from _lint_request(reference, here, params=params)


def _lint_request(reference: str, place: Place, *, params: Params) -> Iterator[Problem]:
    part, *names = reference[1:].split("/")
    if not _POINTER.fullmatch(reference) or part not in _REQUEST_PARTS:
        near = nearest(part, _REQUEST_PARTS)
        hint = f'; did you mean "/{"/".join([near, *names])}"?' if near else ""
        yield Problem(f'"{reference}": expected /path/NAME, /query/NAME or /json/…{hint}', place)
    elif part != "json" and len(names) != 1:
        yield Problem(f'"{reference}": expected one name after /{part}/', place)
    elif part == "path" and names[0] not in params.names:
        yield _unknown_param(names[0], place, params)
