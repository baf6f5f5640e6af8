"""JSON that somebody else wrote, read strictly: no NaN, no endless depth, no half characters."""

from __future__ import annotations

import json
from typing import NoReturn

from contracts.record import Json

MAX_DEPTH = 100
"""Deeper values are refused: every later reader of the record has a limit of its own."""


def parse_json(text: str | bytes) -> Json:
    """The value of a JSON text, with lone surrogates replaced; raises ValueError for anything that is not JSON."""
    try:
        return _readable(json.loads(text, parse_constant=_refuse_constant), depth=0)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_unambiguous(text: str) -> Json:
    """The same, and a ValueError for an object that says a key twice: readers would not agree on its value."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once_each)
        return _readable(value, depth=0)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_json(text: str) -> bool:
    """True for a JSON text of any depth that can be read."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def is_unicode(text: str) -> bool:
    """False for a text with half of a surrogate pair, which no UTF-8 holds."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def without_surrogates(text: str) -> str:
    """The text with `?` for each lone surrogate: it can be escaped in JSON but is in no UTF-8 file."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _once_each(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _readable(value: Json, *, depth: int) -> Json:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_readable(item, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): _readable(item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return value
