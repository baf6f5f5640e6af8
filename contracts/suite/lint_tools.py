"""The rules of tools.json."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts.record import Json
from contracts.suite.files import SuiteFiles
from contracts.suite.lint_names import names_written, shared_names
from contracts.suite.lint_patterns import schema_refusal
from contracts.suite.lint_routes import has_right_params, lint_target
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.route_order import is_param, path_segments
from contracts.suite.tool import Tool, ToolHttp
from contracts.suite.wording import describe

_FUNCTION_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def lint_tools(files: SuiteFiles, *, judges: bool) -> Iterator[Problem]:
    """Everything that is wrong with the tools; `judges` as for `load_suite`."""
    tools = files.tools
    if tools.document is None:
        return
    names = names_written(tools.written(), "function", "name")
    yield from shared_names("tool", ((name, tools.place(index) / "function" / "name") for index, name in names))
    bound: dict[object, str] = {}
    for index, tool in tools.items:
        place = tools.place(index)
        yield from _lint_function(tool, place / "function", judges=judges)
        if tool.http is None:
            continue
        yield from _lint_binding(tool, tool.http, place)
        reads = (place / "http" / "method", place / "http" / "path", place / "function" / "name")
        if files.broken.is_doubtful(*reads) or not has_right_params(tool.http.path):
            continue  # no other tool is compared with what only stands in
        other = bound.setdefault(_shape(tool.http), tool.name)
        if other != tool.name:
            text = f'bound to the same requests as "{other}": the journal could not tell which of them was called'
            yield Problem(text, place / "http", reads=())


def _lint_function(tool: Tool, place: Place, *, judges: bool) -> Iterator[Problem]:
    if not _FUNCTION_NAME.fullmatch(tool.name):
        yield Problem(f'"{tool.name}" is no tool name: expected 1 to 64 of A-Z, a-z, 0-9, _ and -', place / "name")
    yield from _lint_parameters(tool.function.parameters, place / "parameters", judges=judges)


def _lint_parameters(schema: dict[str, Json], place: Place, *, judges: bool) -> Iterator[Problem]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if schema and schema.get("type") != "object":
        found = describe(schema["type"]) if "type" in schema else "none"
        yield Problem(f'expected the JSON Schema of an object ("type": "object"), found {found}', place)
    elif not isinstance(properties, dict):
        yield Problem(f"expected an object, found {describe(properties)}", place / "properties")
    elif not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield Problem(f"expected a list of names, found {describe(required)}", place / "required")
    elif judges and (why := schema_refusal(schema)):
        yield Problem(why, place)
    else:
        for index, name in enumerate(required):
            if name not in properties:
                yield Problem(unknown_name("parameter of the tool", name, properties), place / "required" / index)


def _lint_binding(tool: Tool, http: ToolHttp, place: Place) -> Iterator[Problem]:
    yield from lint_target(http.method, http.path, place / "http")
    path, parameters = place / "http" / "path", place / "function" / "parameters"
    properties = tool.function.parameters.get("properties", {})
    for segment in path_segments(http.path) if has_right_params(http.path) else ():
        if is_param(segment) and isinstance(properties, dict) and segment[1:-1] not in properties:
            text = unknown_name("parameter of the tool", segment[1:-1], properties)
            yield Problem(text, path, reads=(path, parameters))


def _shape(http: ToolHttp) -> object:
    return http.method, tuple(None if is_param(segment) else segment for segment in path_segments(http.path))
