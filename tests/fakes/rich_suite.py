"""A suite with some of everything that the fixture API serves, none of which fails for the suite's own fault."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.fakes.open_world import case
from tests.fakes.suite_folder import SuiteFolder

STATE: dict[str, Any] = {
    "orders": {"a-1": {"amount": 5, "status": "open"}, "b~2": {"amount": 7, "status": "sent"}, "ü/3": {"amount": 0}},
    "refunds": [],
    "lines": ["first", "second"],
    "last": None,
}

ROUTES: list[dict[str, Any]] = [
    {"id": "order", "method": "GET", "path": "/orders/{id}", "responses": [{"json": {"$state": "/orders/{id}"}}]},
    {
        "id": "order-in-full",
        "method": "GET",
        "path": "/orders/{id}",
        "match": {"query": {"view": "full"}},
        "responses": [{"json": {"order": {"$state": "/orders/{id}"}, "id": {"$request": "/path/id"}}}],
    },
    {
        "id": "order-for-staff",
        "method": "GET",
        "path": "/orders/{id}",
        "match": {"headers": {"X-Role": "staff"}},
        "priority": 3,
        "responses": [{"json": "for staff", "headers": {"X-Own": "1"}}, {"status": 403, "json": {"error": "again"}}],
    },
    {"id": "orders", "method": "GET", "path": "/orders", "responses": [{"json": {"$state": "/orders"}}]},
    {"id": "newest", "method": "GET", "path": "/orders/newest", "responses": [{"json": {"$state": "/last"}}]},
    {
        "id": "refund",
        "method": "POST",
        "path": "/orders/{id}/refunds",
        "match": {"json": {"kind": "full"}},
        "responses": [
            {"status": 201, "json": {"order": {"$state": "/orders/{id}"}, "reason": {"$request": "/json/reason"}}},
            {"status": 409, "json": {"error": "refunded"}},
        ],
        "effects": [
            {"op": "replace", "path": "/orders/{id}/amount", "value": 0},
            {"op": "add", "path": "/refunds/-", "value": {"$request": "/json"}},
            {"op": "add", "path": "/last", "value": {"$request": "/path/id"}},
        ],
    },
    {
        "id": "refund-of-one",
        "method": "POST",
        "path": "/orders/{id}/refunds",
        "match": {"json": {"kind": "part", "amount": 1}},
        "responses": [{"status": 202, "json": {"refunds": {"$state": "/refunds"}}, "delayMs": 1}],
        "effects": [{"op": "add", "path": "/refunds/-", "value": {"$state": "/orders/{id}"}}],
    },
    {
        "id": "cancel",
        "method": "DELETE",
        "path": "/orders/{id}",
        "responses": [{"status": 204}],
        "effects": [{"op": "remove", "path": "/orders/{id}"}],
    },
    {
        "id": "line",
        "method": "PUT",
        "path": "/lines/{n}",
        "responses": [{"json": {"$state": "/lines"}}],
        "effects": [{"op": "replace", "path": "/lines/{n}", "value": {"$request": "/json"}}],
    },
    {
        "id": "search",
        "method": "GET",
        "path": "/search",
        "responses": [{"json": {"q": {"$request": "/query/q"}}}],
    },
    {"id": "echo", "method": "PATCH", "path": "/echo", "responses": [{"json": {"got": {"$request": "/json"}}}]},
    {
        "id": "thrice",
        "method": "GET",
        "path": "/thrice",
        "responses": [{"text": "one"}, {"status": 299, "text": "zwei ✓"}, {"status": 410}],
    },
    {
        "id": "down",
        "method": "GET",
        "path": "/down",
        "responses": [{"status": 503, "json": {"error": "the only 5xx that is planned"}}],
    },
    {
        "id": "bytes",
        "method": "GET",
        "path": "/bytes",
        "responses": [{"bytesBase64": base64.b64encode(bytes(range(256)) * 300).decode(), "headers": {"etag": '"b"'}}],
    },
    {"id": "unchanged", "method": "GET", "path": "/unchanged", "responses": [{"status": 304}]},
    {
        "id": "options",
        "method": "OPTIONS",
        "path": "/echo",
        "responses": [{"status": 204, "headers": {"allow": "PATCH"}}],
    },
    {"id": "head", "method": "HEAD", "path": "/bytes", "responses": [{"text": "not sent", "headers": {"x-head": "1"}}]},
]

OWN_ROUTES = [
    {
        "id": "own",
        "method": "GET",
        "path": "/orders/{id}",
        "match": {"query": {"own": "1"}},
        "responses": [{"json": 1}],
    },
    {"id": "own-thrice", "method": "GET", "path": "/thrice", "responses": [{"json": "own"}, {"json": "own again"}]},
]

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "lookup_order",
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}, "lines": {"type": "integer"}}},
        },
        "http": {"method": "GET", "path": "/orders/{id}"},
    },
    {
        "type": "function",
        "function": {
            "name": "refund",
            "parameters": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "kind": {"enum": ["full", "part"]}, "reason": {}},
            },
        },
        "http": {"method": "POST", "path": "/orders/{id}/refunds"},
    },
    {
        "type": "function",
        "function": {
            "name": "search",
            "parameters": {
                "type": "object",
                "properties": {"q": {"type": "array", "items": {"type": "number"}}, "deep": {"type": "object"}},
            },
        },
        "http": {"method": "GET", "path": "/search"},
    },
]

RULES: list[dict[str, Any]] = [
    {
        "when": {"turn": 1, "text": "refund"},
        "reply": {
            "toolCalls": [
                {"name": "lookup_order", "arguments": {"id": "a-1"}},
                {"name": "refund", "arguments": {"id": "a-1", "kind": "full", "reason": "ü"}},
            ],
            "usage": {"inputTokens": 11, "outputTokens": 3},
        },
    },
    {
        "when": {"lastTool": "refund", "lastStatus": 201},
        "reply": {"text": "Done ✓", "usage": {"inputTokens": 1, "outputTokens": 2}},
    },
    {"when": {"case": "two", "text": "busy"}, "reply": {"error": {"status": 429, "headers": {"Retry-After": "2"}}}},
    {"reply": {"text": "I cannot help with that."}},
]


FAULTS = [
    {"route": "orders", "kind": "malformed-json", "times": 1},
    {"route": "down", "kind": "truncated", "value": 3},
    {"route": "bytes", "kind": "wrong-content-type"},
    {"route": "line", "kind": "status", "value": 502, "times": 1},
    {"route": "search", "kind": "empty", "skip": 1},
]


def rich_suite(root: Path) -> Path:
    """Cases `one` and `two`; `two` has routes, faults and a state of its own. Its model answers everything."""
    state = {"orders": {"a-1": {"amount": 6, "status": None}}, "own": True}
    two = case("two", routes=OWN_ROUTES, state=state, faults={"responses": FAULTS})
    return SuiteFolder(root, cases=[case("one"), two], routes=ROUTES, tools=TOOLS, state=STATE, rules=RULES).write()
