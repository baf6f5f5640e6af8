"""Which tool a request is a call of, and the arguments that it was called with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.tool import Tool
from contracts.tool_encoding import QUERY_METHODS
from fixture_api.coercion import ArgumentType, argument_types
from fixture_api.paths import PathTable, PathTemplate, parse_template
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
    is_unmade: bool = False
    """No request could be made of it: its arguments are the body, as the agent wrote them."""

    def arguments(self, *, method: str, query: list[tuple[str, str]], body: Json, has_body: bool) -> Json:
        """All arguments of a request, as an object; None where they could not be read."""
        if self.is_unmade:
            return None if body is ABSENT else body
        if method in QUERY_METHODS:
            return self.named | _query_arguments(self.tool, query)
        if body is ABSENT:
            return None if has_body else self.named
        return body | self.named if isinstance(body, dict) else None


class ToolTable:
    """The bound tools by method and path, and by name; of two paths that fit a request, the more literal one counts."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        bound = [
            (tool.http.method, tool.http.path, BoundTool(tool.name, argument_types(tool.function.parameters)))
            for tool in tools
            if tool.http is not None
        ]
        self._paths = PathTable(bound)
        self._by_name = {tool.name: (tool, parse_template(path)) for _, path, tool in bound}

    def at(self, method: str, segments: list[str]) -> BoundCall | None:
        """The call that any request to this method and path is; None when no tool is bound to them."""
        for entry in self._paths.fitting(method, segments):
            return _made(entry.value, entry.template, segments)
        return None

    def named(self, name: str, segments: list[str]) -> BoundCall:
        """The call of the bound tool of that name whose request has this path; raises KeyError for any other name."""
        tool, template = self._by_name[name]
        return _made(tool, template, segments)

    def unmade(self, name: str) -> BoundCall:
        """A call of the bound tool of that name of which no request can be made; raises KeyError as `named` does."""
        return BoundCall(self._by_name[name][0], {}, is_unmade=True)


def _made(tool: BoundTool, template: PathTemplate, segments: list[str]) -> BoundCall:
    return BoundCall(tool, {name: _coerced(tool, name, segments[at]) for at, name in template.params})


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
