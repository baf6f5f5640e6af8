"""A tool call over MCP is the same call of the world as over HTTP, and is told in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import encode_call
from fixture_api.answers import make_answer, make_head
from fixture_api.journal import Decision, Ending
from fixture_api.mcp_calls import McpExchange, Told, told
from tests.fakes.mcp_suite import ROUTES, STATE, TOOLS, tool
from tests.fakes.open_world import OpenAttempt, open_attempt

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("refund", {"amount": 3, "why": "ä"}),
    ("refund", {"amount": 4.0}),
    ("refund", {}),
    ("order", {"id": "a-1"}),
    ("order", {"id": "a/ä", "more": ["x", 1, None]}),
    ("order", {"id": "none"}),
    ("peek", {"id": "a-1"}),
    ("forget", {"id": ".."}),
    ("slow", {}),
    ("broken", {"big": 2**60}),
    ("picture", {}),
    ("nowhere", {"deep": [[[]]]}),
]
BINDINGS = {one["function"]["name"]: ToolHttp(**one["http"]) for one in TOOLS if "http" in one}
DEEP: Any = []
for _ in range(100_000):
    DEEP = [DEEP]


def opened(folder: Path, **opening: Any) -> OpenAttempt:
    return open_attempt(folder, routes=ROUTES, tools=TOOLS, state=STATE, opening=opening)


def over_http(one: OpenAttempt, name: str, arguments: dict[str, Any]) -> None:
    target, body = encode_call(BINDINGS[name], arguments)
    typed = {} if body is None else {"content_type": "application/json"}
    one.ask(BINDINGS[name].method, target, body=body or b"", accept="application/json", **typed)


def answered(status: int, body: bytes, **rest: Any) -> Decision:
    return Decision(make_answer(make_head(status, {}), body), **rest)


def test_a_call_leaves_what_the_same_call_leaves_over_http_but_for_the_door(tmp_path: Path) -> None:
    mcp, http = opened(tmp_path / "mcp"), opened(tmp_path / "http")
    for name, arguments in CALLS:
        McpExchange(mcp.attempt).call(name, BINDINGS[name], arguments)
        over_http(http, name, arguments)
    by_mcp, by_http = mcp.close(), http.close()
    assert {served.row.via for served in by_mcp.served} == {"mcp"}
    assert {served.row.via for served in by_http.served} == {"http"}
    assert [served.row.route for served in by_mcp.served] == [
        *("refund", "refund", None, "order", "order", None, "order", "gone", "slow", "broken", "picture", None)
    ]

    def but_for_the_door(closed: Any) -> Any:
        rows = [s.model_copy(update={"row": s.row.model_copy(update={"via": "http"})}) for s in closed.served]
        return closed.model_copy(update={"served": tuple(rows)})

    assert but_for_the_door(by_mcp) == by_http


def test_a_limit_counts_calls_through_both_doors(tmp_path: Path) -> None:
    one = opened(tmp_path, tool_call_limit=2)
    over_http(one, "slow", {})
    assert not McpExchange(one.attempt).call("slow", BINDINGS["slow"], {}).is_error
    refused = McpExchange(one.attempt).call("slow", BINDINGS["slow"], {})
    assert refused.is_error
    assert "Tool call limit" in refused.text
    assert one.attempt.ended.is_set()
    closed = one.close()
    assert closed.breached == "tool_calls"
    rows = [(served.row.via, served.row.status, served.row.tool) for served in closed.served]
    assert rows == [("http", 200, "slow"), ("mcp", 200, "slow"), ("mcp", 429, "slow")]


def test_a_call_that_cannot_be_made_says_why_and_is_a_call_of_that_tool(tmp_path: Path) -> None:
    one = opened(tmp_path)
    exchange = McpExchange(one.attempt)
    unmade: list[tuple[str, dict[str, Any]]] = [
        ("order", {"i": 1}),
        ("order", {"id": ""}),
        ("refund", {"amount": "\ud800"}),
        ("forget", {"id": DEEP}),
    ]
    said = [exchange.call(name, BINDINGS[name], arguments) for name, arguments in unmade]
    assert said[:2] == [
        Told("The call was not made: no argument id.", is_error=True),
        Told("The call was not made: the argument id is empty, and it is a part of the path.", is_error=True),
    ]
    assert all(one.is_error for one in said)
    assert exchange.decision is None
    closed = one.close()
    assert [(s.row.tool, s.row.method, s.row.path, s.row.route, s.row.status, s.row.via) for s in closed.served] == [
        ("order", "GET", "/orders/{id}", None, 400, "mcp"),
        ("order", "GET", "/orders/{id}", None, 400, "mcp"),
        ("refund", "POST", "/refunds", None, 400, "mcp"),
        ("forget", "DELETE", "/orders/{id}", None, 400, "mcp"),
    ]
    assert [served.arguments for served in closed.served] == [{"i": 1}, {"id": ""}, None, None]
    assert len({served.row.request_digest for served in closed.served}) == len(unmade)
    assert not [served.unmatched for served in closed.served if served.unmatched]


def test_the_first_call_over_the_limit_that_cannot_be_made_is_journaled_as_one_of_its_tool(tmp_path: Path) -> None:
    one = opened(tmp_path, tool_call_limit=1)
    exchange = McpExchange(one.attempt)
    told_twice = [exchange.call("order", BINDINGS["order"], {}) for _ in range(3)]
    assert "Tool call limit" in told_twice[1].text
    closed = one.close()
    assert [(served.row.tool, served.row.status) for served in closed.served] == [("order", 400), ("order", 429)]
    assert closed.breached == "tool_calls"


def test_the_tool_of_a_call_is_the_one_that_the_message_names(tmp_path: Path) -> None:
    """Also where its path is one that the lab's own model is asked at."""
    tools = [tool("read", "GET", "/v1/{kind}", parameters={"type": "object", "properties": {"kind": {}}})]
    routes = [
        {"id": "kind", "method": "GET", "path": "/v1/{kind}", "responses": [{"json": {"$request": "/path/kind"}}]}
    ]
    one = open_attempt(tmp_path, routes=routes, tools=tools, opening={"model": "scripted/support"})
    told_of = McpExchange(one.attempt).call("read", ToolHttp(**tools[0]["http"]), {"kind": "models"})
    assert told_of == Told('"models"', is_error=False)
    (served,) = one.close().served
    assert (served.row.tool, served.row.via, served.arguments) == ("read", "mcp", {"kind": "models"})


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (answered(200, b'{"a":1}'), Told('{"a":1}', is_error=False)),
        (answered(204, b""), Told("", is_error=False)),
        (answered(404, b'{"title":"no"}'), Told('{"title":"no"}', is_error=True)),
        (answered(503, b""), Told("The tool answered 503 without a body.", is_error=True)),
        (answered(200, b"\xff\x00"), Told("The tool answered 2 bytes that are no UTF-8 text.", is_error=True)),
        (
            answered(200, b'{"a', ending=Ending.CUT),
            Told("The tool's answer was cut off: the connection ended before all of it had come.", is_error=True),
        ),
    ],
)
def test_what_an_agent_reads_is_the_body_or_a_sentence(decision: Decision, expected: Told) -> None:
    assert told(decision) == expected
