"""Which tool a request calls, and with which arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.open_world import open_attempt


def tool(name: str, method: str, path: str, **properties: Any) -> dict[str, Any]:
    function = {"name": name, "parameters": {"type": "object", "properties": properties}}
    return {"type": "function", "function": function, "http": {"method": method, "path": path}}


STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def called(folder: Path, tools: list[dict[str, Any]], *request: Any, **rest: Any) -> tuple[str | None, Any]:
    one = open_attempt(folder, tools=tools, routes=[])
    one.ask(*request, **rest)
    (served,) = one.close().served
    return served.row.tool, served.arguments


def test_arguments_of_a_get_come_from_path_and_query(tmp_path: Path) -> None:
    tools = [tool("find", "GET", "/o/{id}", id=INTEGER, q=STRING, n=INTEGER)]
    assert called(tmp_path, tools, "GET", "/o/7?q=8&n=9&more=x") == (
        "find",
        {"id": 7, "q": "8", "n": 9, "more": "x"},
    )


def test_arguments_of_a_post_come_from_path_and_body(tmp_path: Path) -> None:
    tools = [tool("pay", "POST", "/o/{id}", id=STRING, amount=INTEGER)]
    assert called(tmp_path, tools, "POST", "/o/a%2Fb?amount=1", {"amount": "5", "x": None}) == (
        "pay",
        {"id": "a/b", "amount": "5", "x": None},
    )


def test_a_post_without_body_has_the_arguments_of_its_path(tmp_path: Path) -> None:
    assert called(tmp_path, [tool("pay", "POST", "/o/{id}", id=STRING)], "POST", "/o/7") == ("pay", {"id": "7"})


@pytest.mark.parametrize("body", [b"amount=5", b"[1]"])
def test_a_body_that_is_no_object_cannot_be_read_back(tmp_path: Path, body: bytes) -> None:
    tools = [tool("pay", "POST", "/pay", amount=INTEGER)]
    assert called(tmp_path, tools, "POST", "/pay", body=body, content_type="application/json") == ("pay", None)


def test_an_unmatched_request_can_still_be_a_call(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, tools=[tool("find", "GET", "/o/{id}", id=STRING)], routes=[])
    assert one.ask("GET", "/o/1").answer.status == 404
    (served,) = one.close().served
    assert (served.row.tool, served.row.route, served.arguments) == ("find", None, {"id": "1"})


def test_tools_whose_paths_are_alike_are_told_apart(tmp_path: Path) -> None:
    tools = [tool("any", "GET", "/o/{id}", id=STRING), tool("latest", "GET", "/latest/{id}", id=STRING)]
    assert called(tmp_path, tools, "GET", "/latest/o") == ("latest", {"id": "o"})


def test_another_method_is_no_call(tmp_path: Path) -> None:
    assert called(tmp_path, [tool("find", "GET", "/o/{id}", id=STRING)], "POST", "/o/1") == (None, None)


@pytest.mark.parametrize(
    ("schema", "query", "value"),
    [
        ({"type": "integer"}, "-12", -12),
        ({"type": "integer"}, "012", "012"),
        ({"type": "integer"}, "1.5", "1.5"),
        ({"type": "integer"}, "9" * 30, "9" * 30),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, "3", 3),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "1e999", "1e999"),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "boolean"}, "1", "1"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "", None),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": True}, "true", True),
        ({"$ref": "#/$defs/count"}, "7", 7),
        ({"$ref": "#/$defs/missing"}, "7", "7"),
        ({"$ref": "#/$defs/circle"}, "7", "7"),
        ({"type": "object"}, "%7B%22a%22%3A1%7D", {"a": 1}),
        ({"type": "object"}, "%5B1%5D", "[1]"),
        ({"type": "array", "items": {"type": "integer"}}, "%5B1%2C2%5D", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, "1&v=2", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, "1", [1]),
        ({"type": "array"}, "1&v=2", ["1", "2"]),
        ({"type": "string"}, "1&v=2", ["1", "2"]),
        ({}, "1", "1"),
    ],
)
def test_texts_are_read_back_by_the_schema(tmp_path: Path, schema: dict[str, Any], query: str, value: Any) -> None:
    find = tool("find", "GET", "/o", v=schema)
    find["function"]["parameters"]["$defs"] = {"count": INTEGER, "circle": {"$ref": "#/$defs/circle"}}
    name, arguments = called(tmp_path, [find], "GET", f"/o?v={query}")
    assert (name, arguments) == ("find", {"v": value})
    assert type(arguments["v"]) is type(value)
