"""Texts of a path or query read back as the values that a tool's JSON Schema means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from contracts.record import Json
from fixture_api.request import read_json

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?")
_MAX_DIGITS = 15
_MAX_REFERENCES = 8
"""References may go round in a circle."""

_UNREAD = object()
_JSON_TYPES = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """What an argument's schema allows."""

    names: frozenset[str]
    """JSON Schema's type names; empty: anything."""
    item: ArgumentType | None
    """Of a list's items, where the schema says."""

    def read(self, text: str) -> Json:
        """The value of a text; the text itself where a string is allowed or where it is of no type that is."""
        if not self.names or "string" in self.names:
            return text
        for name in ("null", "boolean", "integer", "number", "array", "object"):
            if name in self.names and (value := _read(text, name)) is not _UNREAD:
                return value
        return text

    def read_all(self, texts: list[str]) -> Json:
        """The value of a query key that came once or several times; a list is its repetition or its JSON."""
        if len(texts) == 1:
            whole = self.read(texts[0])
            if "array" not in self.names or isinstance(whole, list):
                return whole
        return [self.item.read(text) for text in texts] if self.item else texts


def argument_types(schema: Mapping[str, Json]) -> dict[str, ArgumentType]:
    """The types of those arguments of a tool whose texts stand for something else than themselves."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    types = {name: _argument_type(member, schema) for name, member in properties.items()}
    return {name: known for name, known in types.items() if known.names - {"string"}}


def _argument_type(schema: Json, root: Mapping[str, Json]) -> ArgumentType:
    items = schema.get("items") if isinstance(schema, dict) else None
    item = ArgumentType(_types(items, root), None) if isinstance(items, dict) else None
    return ArgumentType(_types(schema, root), item)


def _types(schema: Json, root: Mapping[str, Json], *, depth: int = 0) -> frozenset[str]:
    if not isinstance(schema, dict) or depth > _MAX_REFERENCES:
        return frozenset()
    names = schema.get("type", ())
    found = {names} if isinstance(names, str) else set(names)
    for branch in [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        found |= _types(branch, root, depth=depth + 1)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found |= _types(_referred(reference, root), root, depth=depth + 1)
    if not found:
        constant = [schema["const"]] if "const" in schema else []
        found = {_JSON_TYPES[type(value)] for value in [*schema.get("enum", ()), *constant]}
    return frozenset(found)


def _referred(reference: str, root: Mapping[str, Json]) -> Json:
    place: Json = root
    for token in reference.removeprefix("#").split("/")[1:]:
        place = place.get(token) if isinstance(place, dict) else None
    return place


def _read(text: str, name: str) -> Json:
    if name == "null":
        return None if text in ("", "null") else _UNREAD
    if name == "boolean":
        # Python's and JavaScript's clients spell it differently.
        return {"true": True, "false": False}.get(text.lower(), _UNREAD)
    if name == "integer":
        return int(text) if _INTEGER.fullmatch(text) and len(text) <= _MAX_DIGITS else _UNREAD
    if name == "number":
        return json.loads(text) if _NUMBER.fullmatch(text) and len(text) <= _MAX_DIGITS else _UNREAD
    value, _ = read_json(text.encode())
    return value if isinstance(value, list if name == "array" else dict) else _UNREAD
