"""A suite whose tools meet everything that a tool call can meet, and MCP messages as they are on the wire."""

from __future__ import annotations

import base64
from typing import Any

from tests.fakes.fixture_process import DataClient, Reply

ACCEPT = "application/json, text/event-stream"
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}

ROUTES: list[dict[str, Any]] = [
    {"id": "order", "method": "GET", "path": "/orders/{id}", "responses": [{"json": {"$state": "/orders/{id}"}}]},
    {
        "id": "refund",
        "method": "POST",
        "path": "/refunds",
        "match": {"headers": {"accept": "application/json"}},
        "responses": [{"status": 201, "json": {"n": 1}}, {"status": 201, "json": {"n": 2}}],
        "effects": [{"op": "add", "path": "/refunds/-", "value": {"$request": "/json/amount"}}],
    },
    {"id": "slow", "method": "GET", "path": "/slow", "responses": [{"text": "slöw", "delayMs": 300}]},
    {"id": "broken", "method": "GET", "path": "/broken", "responses": [{"status": 503}]},
    {"id": "gone", "method": "DELETE", "path": "/orders/{id}", "responses": [{"status": 204}]},
    {
        "id": "picture",
        "method": "GET",
        "path": "/picture",
        "responses": [{"bytesBase64": base64.b64encode(b"\x89PNG\xff").decode()}],
    },
]
STATE: dict[str, Any] = {"orders": {"a-1": {"amount": 5}, "a/ä": {"amount": 6}}, "refunds": []}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"amount": {"$ref": "#/$defs/money"}, "why": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    "required": ["amount"],
    "additionalProperties": False,
    "$defs": {"money": {"type": "integer", "minimum": 1}},
}


def tool(name: str, method: str | None, path: str = "", **function: Any) -> dict[str, Any]:
    """A function tool; without a method an unbound one."""
    binding = {} if method is None else {"http": {"method": method, "path": path}}
    return {"type": "function", "function": {"name": name, **function}, **binding}


BY_ID = {"type": "object", "properties": {"id": {"type": "string"}}}
TOOLS = [
    tool("refund", "POST", "/refunds", description="Pays money back.", parameters=SCHEMA),
    tool("think", None, description="Bound to nothing."),
    tool("order", "GET", "/orders/{id}", parameters=BY_ID),
    tool("peek", "HEAD", "/orders/{id}", parameters=BY_ID),
    tool("forget", "DELETE", "/orders/{id}", parameters=BY_ID),
    tool("slow", "GET", "/slow"),
    tool("broken", "GET", "/broken"),
    tool("picture", "GET", "/picture"),
    tool("nowhere", "PUT", "/nowhere"),
]
BOUND = [one["function"]["name"] for one in TOOLS if "http" in one]


def message(method: str, params: Any = None, *, message_id: Any = 1) -> dict[str, Any]:
    """A JSON-RPC message; without an id a notification."""
    sent = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
    return {key: value for key, value in sent.items() if value is not None}


def call_of(name: str, **arguments: Any) -> dict[str, Any]:
    return message("tools/call", {"name": name, "arguments": arguments})


def post(client: DataClient, prefix: str, sent: Any, **headers: str) -> Reply:
    return client.ask("POST", f"{prefix}/mcp", sent, **{"accept": ACCEPT, **headers})
