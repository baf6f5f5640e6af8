"""Which tool a request is a call of, and the arguments that it was called with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.route_order import is_param, path_segments
from contracts.suite.tool import Tool
from contracts.tool_encoding import QUERY_METHODS
from fixture_api.coercion import ArgumentType, argument_types
from fixture_api.paths import PathTable
from fixture_api.request import ABSENT


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool with what its schema says about texts."""

    name: str
    types: dict[str, ArgumentType]
    """Of the arguments whose texts stand for something else."""


class BoundCall(NamedTuple):
    """As much of a call as method and path tell."""

    tool: BoundTool
    named: dict[str, Json]
    """The arguments that are parameters of the path."""

    def arguments(self, *, method: str, query: list[tuple[str, str]], body: Json, has_body: bool) -> Json:
        """All arguments of a request, as an object; None where they could not be read."""
        if method in QUERY_METHODS:
            return self.named | _query_arguments(self.tool, query)
        if body is ABSENT:
            return None if has_body else self.named
        return body | self.named if isinstance(body, dict) else None


class ToolTable:
    """The bound tools by method and path; of two that fit, the one whose path has literals further left is called."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        bound = [
            (tool.http.method, tool.http.path, BoundTool(tool.name, argument_types(tool.function.parameters)))
            for tool in tools
            if tool.http is not None
        ]
        bound.sort(key=lambda row: [is_param(segment) for segment in path_segments(row[1])])
        self._paths = PathTable(bound)

    def at(self, method: str, segments: list[str]) -> BoundCall | None:
        """The call that any request to this method and path is; None when no tool is bound to them."""
        for entry in self._paths.fitting(method, segments):
            tool = entry.value
            return BoundCall(tool, {name: _coerced(tool, name, segments[at]) for at, name in entry.template.params})
        return None


def _coerced(tool: BoundTool, name: str, text: str) -> Json:
    known = tool.types.get(name)
    return text if known is None else known.read(text)


def _query_arguments(tool: BoundTool, query: list[tuple[str, str]]) -> dict[str, Json]:
    values: dict[str, list[str]] = {}
    for name, value in query:
        values.setdefault(name, []).append(value)
    return {
        name: known.read_all(texts) if (known := tool.types.get(name)) else texts[0] if len(texts) == 1 else texts
        for name, texts in values.items()
    }
