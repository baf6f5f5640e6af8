"""A right suite in which nearly everything refers to something else, so that each broken part could break the rest."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from tests.fakes.suite_changes import Change
from tests.fakes.suite_folder import CASE, ROUTE, SETTINGS, TOOL, SuiteFolder

TOP = 'cases = "cases.json"\nroutes = "routes.json"\ntools = "tools.json"\nstate = "state.json"\n'
CASES: list[dict[str, Any]] = [
    {
        **CASE,
        "tags": ["a"],
        "limits": {"seconds": 3},
        "routes": [{**ROUTE, "id": "own", "path": "/own", "responses": [{"text": "own"}]}],
        "faults": {
            "network": [{"type": "latency", "attributes": {"latency": 5}}],
            "responses": [
                {"route": "read-order", "kind": "status", "times": 1},
                {"route": "read-order", "kind": "truncated", "value": 3, "skip": 1},
                {"route": "own", "kind": "empty"},
            ],
        },
        "expect": {
            "toolCalls": [{"name": "lookup_order"}],
            "toolOrder": [["lookup_order", "refund"]],
            "neverTools": ["refund"],
            "assertions": [{"type": "tool_called", "value": "lookup_order"}],
        },
    },
    {"id": "asks", "input": [{"role": "user", "content": "hello"}], "expect": {"size": "S"}},
]
ROUTES: list[dict[str, Any]] = [
    {**ROUTE, "effects": [{"op": "add", "path": "/seen/{order_id}", "value": {"$request": "/path/order_id"}}]},
    {"id": "narrow", "method": "POST", "path": "/orders", "match": {"query": {"a": "b"}}, "responses": [{"json": {}}]},
    {"id": "other", "method": "POST", "path": "/orders", "match": {"query": {"a": "c"}}, "responses": [{"text": "x"}]},
    {"id": "first", "method": "PUT", "path": "/orders", "priority": 1, "responses": [{"status": 204}]},
    {
        "id": "last",
        "method": "PUT",
        "path": "/orders",
        "responses": [{"headers": {"x-a": "b"}}, {"bytesBase64": "YQ=="}],
    },
]
TOOLS: list[dict[str, Any]] = [
    TOOL,
    {"type": "function", "function": {"name": "refund"}, "http": {"method": "POST", "path": "/orders"}},
]
RULES: list[dict[str, Any]] = [
    {"when": {"case": "greets", "turn": 1}, "reply": {"toolCalls": [{"name": "lookup_order", "arguments": {}}]}},
    {"when": {"prompt": "polite", "lastTool": "lookup_order"}, "reply": {"text": "hello", "usage": {"inputTokens": 1}}},
    {"when": {"text": "^no"}, "reply": {"error": {"status": 500, "headers": {"x-a": "b"}}}},
    {"reply": {"text": "hello"}},
]


def web(root: Path, *changes: Change) -> SuiteFolder:
    """The suite with the changes made to it."""
    parts: dict[str, Any] = copy.deepcopy({"cases": CASES, "routes": ROUTES, "tools": TOOLS, "rules": RULES})
    state: dict[str, Any] = {"orders": {}, "seen": {}}
    folder = SuiteFolder(root, settings=TOP + SETTINGS, state=state, **parts)
    for change in changes:
        change(folder)
    return folder


def put(part: str, *path: str | int, value: Any) -> Change:
    """One value of the suite's `cases`, `routes`, `tools` or `rules`."""

    def change(folder: SuiteFolder) -> None:
        place = getattr(folder, part)
        for name in path[:-1]:
            place = place.setdefault(name, {}) if isinstance(place, dict) else place[name]
        place[path[-1]] = value

    return change
