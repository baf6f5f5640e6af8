"""A small refund desk: a model that asks for two tools and answers, and the conversation that clients have with it."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.open_world import case
from tests.fakes.suite_folder import SuiteFolder

MODEL = "scripted/support"
QUESTION = "I want my money back for order a-1, naïvely."
ANSWER = "1250 cents were paid back ✓"

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "lookup_order",
            "description": "Reads an order.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        },
        "http": {"method": "GET", "path": "/orders/{order_id}"},
    },
    {
        "type": "function",
        "function": {
            "name": "issue_refund",
            "description": "Pays money back.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}, "amount": {"type": "integer"}},
                "required": ["order_id", "amount"],
            },
        },
        "http": {"method": "POST", "path": "/refunds"},
    },
]
OFFERED = [{key: value for key, value in tool.items() if key != "http"} for tool in TOOLS]

_ROUTES = [
    {
        "id": "lookup-order",
        "method": "GET",
        "path": "/orders/{order_id}",
        "responses": [{"json": {"$state": "/orders/{order_id}"}}],
    },
    {
        "id": "issue-refund",
        "method": "POST",
        "path": "/refunds",
        "match": {"json": {"order_id": "a-1", "amount": 1250}},
        "responses": [{"status": 201, "json": {"refund": "r-1", "of": {"$request": "/json/order_id"}}}],
        "effects": [
            {"op": "replace", "path": "/orders/a-1/status", "value": "refunded"},
            {"op": "add", "path": "/refunds/-", "value": {"$request": "/json"}},
        ],
    },
]
_RULES = [
    {
        "when": {"turn": 1, "text": "money back"},
        "reply": {"toolCalls": [{"name": "lookup_order", "arguments": {"order_id": "a-1"}}]},
    },
    {
        "when": {"lastTool": "lookup_order", "lastStatus": 200, "text": '"amount": ?1250'},
        "reply": {
            "text": "I pay it back.",
            "toolCalls": [{"name": "issue_refund", "arguments": {"order_id": "a-1", "amount": 1250}}],
        },
    },
    {
        "when": {"lastTool": "issue_refund", "lastStatus": 201},
        "reply": {"text": ANSWER, "usage": {"inputTokens": 9, "outputTokens": 4}},
    },
]

ROWS = [
    ("model", "model:support#0", None, 200),
    ("http", "lookup-order", "lookup_order", 200),
    ("model", "model:support#1", None, 200),
    ("http", "issue-refund", "issue_refund", 201),
    ("model", "model:support#2", None, 200),
]
"""Door, route, tool and status of each row that the conversation leaves."""


def refund_desk(root: Path) -> Path:
    """The suite; its case is `refund`."""
    state = {"orders": {"a-1": {"amount": 1250, "status": "delivered"}}, "refunds": []}
    return SuiteFolder(root, cases=[case("refund")], routes=_ROUTES, tools=TOOLS, state=state, rules=_RULES).write()


_NUMBERS = itertools.count(1)


class Desk(NamedTuple):
    """An open attempt of the refund desk."""

    api: FixtureProcess
    number: int
    prefix: str

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.api.data_port}"

    @property
    def url(self) -> str:
        """FIXTURE_URL."""
        return self.root + self.prefix

    def close(self) -> dict[str, Any]:
        return self.api.close("refund", self.number)


def opened(api: FixtureProcess, **opening: Any) -> Desk:
    """A new attempt."""
    number = next(_NUMBERS)
    return Desk(api, number, api.open("refund", number, model=MODEL, prompt="polite", **opening))


def summary(closed: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Of what a closing hands out, what `ROWS` has."""
    rows = [served["row"] for served in closed["served"]]
    return [(row["via"], row["route"], row["tool"], row["status"]) for row in rows]


Message = dict[str, Any]


def converse(ask: Callable[[list[Message]], Message], call: Callable[[str, dict[str, Any]], str]) -> str:
    """The whole conversation: `ask` takes all messages to the model's next one, `call` a tool's call to its text."""
    messages: list[Message] = [{"role": "user", "content": QUESTION}]
    while True:
        said = ask(messages)
        messages.append(said)
        for tool_call in said.get("tool_calls") or ():
            function = tool_call["function"]
            result = call(function["name"], json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": tool_call["id"], "content": result})
        if not said.get("tool_calls"):
            return str(said["content"])


def completion_request(messages: list[Message]) -> dict[str, Any]:
    """The body that the clients send that make it themselves."""
    return {"model": MODEL, "messages": messages, "tools": OFFERED}


def program(name: str) -> str:
    """The path of a client that is no Python; where it is missing, a test fails in CI and is skipped elsewhere."""
    found = shutil.which(name)
    if found is None:
        reason = f"{name} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found
