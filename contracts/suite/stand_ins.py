"""Makes a value of the shape that a record asks for at some path, in place of one that has another shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from contracts.record import Json
from contracts.suite.places import Path

NO_NAME = "\ufffd"
"""The text that stands in for most texts."""
_TEXTS = (NO_NAME, "", "/", "GET", "a", "a/b")
"""Those after the first are for patterns that it does not fit."""
_PLAIN: dict[str, Json] = {"boolean": False, "null": None}

_Schema = dict[str, Any]


@lru_cache
def stand_ins(model: type[BaseModel]) -> StandIns:
    """The stand-ins for documents of that record."""
    return StandIns(model)


class StandIns:
    """The stand-ins for values in one kind of document."""

    def __init__(self, model: type[BaseModel]) -> None:
        # The JSON Schema has in one form what annotations say in many: types, bounds, patterns and defaults.
        self._whole = model.model_json_schema(by_alias=True)

    def at(self, path: Path) -> Json:
        """A value that may stand at the path; None where anything may."""
        return self._made(next(self._schemas_at(path), {}))

    def keys_at(self, path: Path) -> set[str]:
        """The keys that the object at the path may have."""
        return {key for schema in self._schemas_at(path) for key in schema.get("properties", ())}

    def _schemas_at(self, path: Path) -> Iterator[_Schema]:
        """What the value at the path may be, without null where it may be something else."""
        found = [self._whole]
        for part in path:
            found = [deeper for one in found for option in self._options(one) for deeper in _below(option, part)]
        for one in found:
            options = list(self._options(one))
            yield from [option for option in options if option.get("type") != "null"] or options

    def _options(self, schema: _Schema) -> Iterator[_Schema]:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            yield from self._options(self._whole["$defs"][name])
        elif "anyOf" in schema:
            for one in schema["anyOf"]:
                yield from self._options(one)
        else:
            yield schema

    def _made(self, schema: _Schema) -> Json:
        if "$ref" in schema or "anyOf" in schema:
            options = list(self._options(schema))
            return self._made(next((one for one in options if one.get("type") != "null"), options[0]))
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else schema["enum"][0]
        if schema.get("type") == "object":
            properties = schema.get("properties", {})
            return {key: self._made(properties[key]) for key in schema.get("required", ())}
        if schema.get("type") == "array":
            items = schema.get("prefixItems") or [schema.get("items", {})] * schema.get("minItems", 0)
            return [self._made(one) for one in items]
        return _scalar(schema)


def _below(schema: _Schema, part: str | int) -> Iterator[_Schema]:
    """What a key of the described object, or an item of the described list, may be."""
    if isinstance(part, int):
        items = schema.get("prefixItems") or [schema.get("items")]
        below = items[min(part, len(items) - 1)]
    else:
        below = schema.get("properties", {}).get(part, schema.get("additionalProperties"))
    if isinstance(below, dict):
        yield below


def _scalar(schema: _Schema) -> Json:
    kind = schema.get("type")
    if kind == "string":
        return next(text for text in _TEXTS if re.search(schema.get("pattern", ""), text))
    if kind in {"integer", "number"}:
        return schema.get("minimum", schema["exclusiveMinimum"] + 1 if "exclusiveMinimum" in schema else 0)
    return _PLAIN.get(str(kind))
