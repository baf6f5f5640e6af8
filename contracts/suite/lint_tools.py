"""The rules of tools.json."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts.suite.files import Listed
from contracts.suite.lint_names import names_written, shared_names
from contracts.suite.lint_routes import lint_path
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.route_order import is_param, path_segments
from contracts.suite.tool import Tool, ToolHttp

_FUNCTION_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def lint_tools(tools: Listed[Tool]) -> Iterator[Problem]:
    """Everything that is wrong with the tools."""
    if tools.document is None:
        return
    names = names_written(tools.written(), "function", "name")
    yield from shared_names("tool", ((name, tools.place(index) / "function" / "name") for index, name in names))
    bound: dict[object, str] = {}
    for index, tool in tools.items:
        place = tools.place(index)
        yield from _lint_function(tool, place / "function")
        if tool.http is None:
            continue
        yield from _lint_binding(tool, tool.http, place / "http")
        other = bound.setdefault(_shape(tool.http), tool.name)
        if other != tool.name:
            text = f'bound to the same requests as "{other}": the journal could not tell which of them was called'
            yield Problem(text, place / "http")


def _lint_function(tool: Tool, place: Place) -> Iterator[Problem]:
    if not _FUNCTION_NAME.fullmatch(tool.name):
        yield Problem(f'"{tool.name}" is no tool name: expected 1 to 64 of A-Z, a-z, 0-9, _ and -', place / "name")
    parameters = tool.function.parameters
    if parameters and parameters.get("type") != "object":
        yield Problem('expected the JSON Schema of an object: "type": "object"', place / "parameters")
    if not isinstance(parameters.get("properties", {}), dict):
        yield Problem("expected an object", place / "parameters" / "properties")


def _lint_binding(tool: Tool, http: ToolHttp, place: Place) -> Iterator[Problem]:
    yield from lint_path(http.path, place / "path")
    properties = tool.function.parameters.get("properties", {})
    for segment in path_segments(http.path):
        if is_param(segment) and isinstance(properties, dict) and segment[1:-1] not in properties:
            yield Problem(unknown_name("parameter of the tool", segment[1:-1], properties), place / "path")


def _shape(http: ToolHttp) -> object:
    return http.method, tuple(None if is_param(segment) else segment for segment in path_segments(http.path))
