"""A suite of a few routes, one tool and two cases, for everything that is not about suites."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from tests.fakes.fixture_process import TIMEOUT_S
from tests.fakes.open_world import case
from tests.fakes.suite_folder import SuiteFolder

ROUTES: list[dict[str, Any]] = [
    {"id": "order", "method": "GET", "path": "/orders/{id}", "responses": [{"json": {"$state": "/orders/{id}"}}]},
    {
        "id": "refund",
        "method": "POST",
        "path": "/refunds",
        "responses": [{"status": 201, "json": {"n": 1}}, {"status": 201, "json": {"n": 2}}],
        "effects": [{"op": "add", "path": "/refunds/-", "value": {"$request": "/json/amount"}}],
    },
    {"id": "slow", "method": "GET", "path": "/slow", "responses": [{"text": "slow", "delayMs": 400}]},
    {"id": "quick", "method": "GET", "path": "/quick", "responses": [{"text": "quick", "headers": {"X-Own": "1"}}]},
    {"id": "shop", "method": "GET", "path": "/shops", "match": {"headers": {"x-shop": "a"}}, "responses": [{}]},
    {"id": "empty", "method": "DELETE", "path": "/quick", "responses": [{"status": 204}]},
]


TOOLS = [
    {
        "type": "function",
        "function": {"name": "refund", "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}}},
        "http": {"method": "POST", "path": "/refunds"},
    }
]


STATE: dict[str, Any] = {"orders": {"a-1": {"amount": 5, "note": None}}, "refunds": []}


CASES = [case("one"), case("two", state={"orders": {"a-1": {"amount": 6}}})]


TALK = {"messages": [{"role": "user", "content": "hi"}]}


def small_suite(folder: Path) -> Path:
    return SuiteFolder(folder, cases=CASES, routes=ROUTES, tools=TOOLS, state=STATE).write()


def raw(port: int, content: bytes, *, until: bytes = b"") -> bytes:
    """What comes back for bytes: until `until` has come, else until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        connection.sendall(content)
        received = b""
        while not until or until not in received:
            piece = connection.recv(65536)
            if not piece:
                break
            received += piece
        return received
