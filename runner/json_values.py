"""JSON that agents wrote: read strictly, compared as JSON values, digested whatever is in it."""

from __future__ import annotations

import json
from typing import NoReturn

from contracts.canonical import digest_of_json
from contracts.record import Json

MAX_DEPTH = 100
"""Deeper values are refused: every later reader of the record has a limit of its own."""
_EXACT_INTEGER = 2**53 - 1


def parse_json(text: str | bytes) -> Json:
    """The value of a JSON text, with lone surrogates replaced; raises ValueError for anything that is not JSON."""
    try:
        return _readable(json.loads(text, parse_constant=_refuse_constant), depth=0)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_json(text: str) -> bool:
    """True for a JSON text of any depth that can be read."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _readable(value: Json, *, depth: int) -> Json:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, list):
        return [_readable(item, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _readable(item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return value


def _without_surrogates(text: str) -> str:
    # a lone surrogate can be escaped in JSON but is in no UTF-8 file
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def equal_json(left: Json, right: Json) -> bool:
    """Equality of JSON values: 1 equals 1.0 and never true; objects have no order."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal_json, left, right))
    return bool(left == right)


def digest_of_any(value: Json) -> str:
    """The digest of a JSON value, also where an integer is too big for canonical JSON (it counts as its digits)."""
    return digest_of_json(_canonical(value))


def _canonical(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT_INTEGER:
        return str(value)
    return value


def first_difference(expected: Json, actual: Json, *, pointer: str = "") -> str | None:
    """The JSON pointer of the first place where two values differ; None when they are equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        pairs = [(key, expected.get(key), actual.get(key)) for key in [*expected, *(actual.keys() - expected.keys())]]
        missing = expected.keys() ^ actual.keys()
    elif isinstance(expected, list) and isinstance(actual, list):
        pairs = [(str(index), *pair) for index, pair in enumerate(zip(expected, actual, strict=False))]
        missing = {str(min(len(expected), len(actual)))} if len(expected) != len(actual) else set()
    else:
        return None if equal_json(expected, actual) else pointer
    for key, left, right in pairs:
        place = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        if key in missing:
            return place
        if (found := first_difference(left, right, pointer=place)) is not None:
            return found
    return f"{pointer}/{min(missing)}" if missing else None
