"""Which tool a request is a call of, and the arguments that it was called with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.route_order import is_param, path_segments
from contracts.suite.tool import Tool
from fixture_api.paths import PathTable
from fixture_api.request import ABSENT, WorldRequest

QUERY_METHODS = ("GET", "HEAD", "DELETE")
"""Methods whose arguments are the query; the others have them in a JSON body."""

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_MAX_DIGITS = 15


class ToolCall(NamedTuple):
    """A request read as a call of a bound tool."""

    tool: str
    arguments: Json
    """An object; None where they could not be read."""


class ToolTable:
    """The bound tools by method and path; of two that fit, the one whose path has literals further left is called."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        bound = sorted(_bound(tools), key=lambda row: [is_param(segment) for segment in path_segments(row[1])])
        self._paths = PathTable(bound)

    def called_by(self, request: WorldRequest) -> ToolCall | None:
        """The call that the request is; None when no tool is bound to its method and path."""
        for entry in self._paths.fitting(request.method, request.segments):
            params = {name: request.segments[place] for place, name in entry.template.params}
            return ToolCall(entry.value.name, _arguments(entry.value, request, params))
        return None


def _bound(tools: Iterable[Tool]) -> Iterator[tuple[str, str, Tool]]:
    for tool in tools:
        if tool.http is not None:
            yield tool.http.method, tool.http.path, tool


def _arguments(tool: Tool, request: WorldRequest, params: Mapping[str, str]) -> Json:
    schema = tool.function.parameters
    named = {name: coerce(value, _property(schema, name), root=schema) for name, value in params.items()}
    if request.method in QUERY_METHODS:
        return named | _query_arguments(request.query, schema)
    if request.body is ABSENT:
        return named if not request.has_body else None
    return request.body | named if isinstance(request.body, dict) else None


def _query_arguments(query: list[tuple[str, str]], schema: Mapping[str, Json]) -> dict[str, Json]:
    values: dict[str, list[str]] = {}
    for name, value in query:
        values.setdefault(name, []).append(value)
    return {name: _query_argument(texts, _property(schema, name), schema) for name, texts in values.items()}


def _query_argument(texts: list[str], schema: Json, root: Mapping[str, Json]) -> Json:
    if len(texts) == 1:
        whole = coerce(texts[0], schema, root=root)
        if "array" not in _types(schema, root) or isinstance(whole, list):
            return whole
    items = schema.get("items") if isinstance(schema, dict) else None
    return [coerce(text, items, root=root) for text in texts]


def _property(schema: Mapping[str, Json], name: str) -> Json:
    properties = schema.get("properties")
    return properties.get(name) if isinstance(properties, dict) else None


def coerce(text: str, schema: Json, *, root: Mapping[str, Json]) -> Json:
    """The value that a text from path or query stands for, by the schema of its argument.

    A text stays as it is where the schema allows a string or where it is of no type that the schema allows.
    `root` is the whole schema, for references.
    """
    types = _types(schema, root)
    if not types or "string" in types:
        return text
    for name in ("null", "boolean", "integer", "number", "array", "object"):
        if name in types:
            value = _read(text, name)
            if value is not ABSENT:
                return value
    return text


def _read(text: str, name: str) -> Json:
    if name == "null":
        return None if text in ("", "null") else ABSENT
    if name == "boolean":
        # Python's and JavaScript's clients spell it differently.
        return {"true": True, "false": False}.get(text.lower(), ABSENT)
    if name == "integer":
        return int(text) if _INTEGER.fullmatch(text) and len(text) <= _MAX_DIGITS else ABSENT
    if name == "number":
        return json.loads(text) if _NUMBER.fullmatch(text) and len(text) <= _MAX_DIGITS else ABSENT
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ABSENT
    return value if isinstance(value, list if name == "array" else dict) else ABSENT


def _types(schema: Json, root: Mapping[str, Json], *, depth: int = 0) -> frozenset[str]:
    if not isinstance(schema, dict) or depth > 8:  # noqa: PLR2004 - references may go round in a circle
        return frozenset()
    names = schema.get("type", ())
    found = {names} if isinstance(names, str) else set(names)
    for branch in [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        found |= _types(branch, root, depth=depth + 1)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found |= _types(_referred(reference, root), root, depth=depth + 1)
    if not found:
        found = {_JSON_TYPES[type(value)] for value in [*schema.get("enum", ()), *_const(schema)]}
    return frozenset(found)


_JSON_TYPES = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


def _const(schema: Mapping[str, Json]) -> list[Json]:
    return [schema["const"]] if "const" in schema else []


def _referred(reference: str, root: Mapping[str, Json]) -> Json:
    place: Json = root
    for token in reference.removeprefix("#").split("/")[1:]:
        place = place.get(token) if isinstance(place, dict) else None
    return place
