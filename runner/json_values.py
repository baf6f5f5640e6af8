"""JSON that agents wrote: compared as JSON values, digested whatever is in it."""

from __future__ import annotations

from contracts.canonical import digest_of_json
from contracts.record import Json

_EXACT_INTEGER = 2**53 - 1


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
