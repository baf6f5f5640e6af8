"""What a JSON Schema refers to: only places within itself, since nothing is ever fetched to judge an answer."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from contracts.record import Json

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_LITERALS = frozenset({"const", "enum", "default", "examples"})


def lost_reference(schema: Json) -> str | None:
    """The first reference that leads nowhere, and why; None where each has its place, or a `$id` may give it one."""
    parts = list(_parts(schema))
    if any("$id" in part or "id" in part for part in parts):
        return None
    anchors = {part[name] for part in parts for name in _ANCHORS if isinstance(part.get(name), str)}
    for part in parts:
        for name in _REFERENCES:
            target = part.get(name)
            if isinstance(target, str) and (why := _why_lost(target, schema, anchors=anchors)):
                return f'{name} "{target}" {why}'
    return None


def _why_lost(target: str, schema: Json, *, anchors: set[Json]) -> str | None:
    outside, _, inside = target.partition("#")
    if outside:
        return "is outside of the schema, and nothing is fetched"
    if not inside.startswith("/"):
        return None if not inside or inside in anchors else "names no anchor of the schema"
    place = schema
    for step in unquote(inside).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and name in place:
            place = place[name]
        elif isinstance(place, list) and name.isdecimal() and int(name) < len(place):
            place = place[int(name)]
        else:
            return "leads to no place of the schema"
    return None


def _parts(schema: Json) -> Iterator[dict[str, Json]]:
    """Every object of the schema that is no literal."""
    if isinstance(schema, list):
        for item in schema:
            yield from _parts(item)
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key not in _LITERALS:
                yield from _parts(value)
