"""What looks unusual and is right all the same is no problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.suite.loading import load_suite
from tests.fakes.suite_changes import (
    AGENT,
    Change,
    assertion,
    below,
    both,
    case,
    effect,
    expect,
    file,
    response,
    response_fault,
    route,
    rule,
    second_route,
    tool,
    top,
    toxic,
    toxics,
)
from tests.fakes.suite_folder import RULE, SuiteFolder

CUT = {"type": "limit_data", "attributes": {"bytes": 5}}


def rules(*whens: dict[str, Any]) -> Change:
    return lambda folder: folder.rules.__setitem__(slice(None), [{"when": when, **RULE} for when in whens])


PROFILE = below('[jobs.a]\nprofiles = ["mine"]')
WITH_AND_WITHOUT_BODY = route(responses=[{"text": "ab"}, {"status": 204}])
CUT_ONCE = {"kind": "truncated", "times": 1, "value": 1}

TOOL_HTTP = {"method": "GET", "path": "/orders/{order_id}"}
LITERAL = tool(http={"method": "GET", "path": "/order/x"})
ALMOST_BOUND = tool(http={"method": "GET", "path": "/order/{order_id}"})
MAKES_B = {
    "id": "own",
    "method": "POST",
    "path": "/elsewhere/b",
    "responses": [{}],
    "effects": [{"op": "copy", "from": "/a", "path": "/b"}],
}

ALLOWED: list[tuple[str, Change]] = [
    ("other assertion spelling", assertion("Not_Contains", "x")),
    ("no tool calls expected", case(expect={"toolCalls": []})),
    ("a schema that is a boolean", assertion("json_schema", True)),  # noqa: FBT003 - a JSON Schema
    ("a case that waits for another value", second_route(path="/orders/{id}", match={"query": {"a": "1"}})),
    ("a tool of no suite, scripted", rule(reply={"toolCalls": [{"name": "no_such_thing"}]})),
    ("words that are no part of the later ones", rules({"text": "refund"}, {"text": "a re.fund"}, {"text": "re"})),
    ("an expression that may find less", rules({"text": "^refund"}, {"text": "a ^refund"}, {"text": "(?i)refund"})),
    ("rules that overlap", rules({"turn": 1}, {"case": "greets"}, {"prompt": "polite"})),
    ("an empty answer that is cut", rule(reply={"text": "", "cut": True, "usage": {}})),
    ("a value of null in an effect", effect(op="add", path="/a", value=None)),
    (
        "the whole request body",
        both(route(method="POST", responses=[{"json": {"$request": "/json"}}]), tool(http=None)),
    ),
    ("a suite without tools", lambda folder: folder.texts.update({"tools.json": '{"tools": []}'})),
    ("a real timezone", top('timezone = "Europe/Berlin"')),
    ("an unbound tool", tool(http=None)),
    ("an agent of a later version", below(AGENT + 'adapter = "http"\nurl = "http://agent:1"')),
    ("a rare method", second_route(method="PROPFIND")),
    ("a JSON match for GET", second_route(match={"json": {"a": 1}})),
    ("a dollar key of another system", response(json={"a": {"$date": "2026-09-01"}, "b": {"$ref": "#/a"}})),
    ("a move to a sibling", effect(**{"op": "move", "from": "/a", "path": "/ab"})),
    ("a state that only a case has", both(response(json={"$state": "/own"}), case(state={"own": 1}))),
    ("a state that another route makes", both(response(json={"$state": "/b"}), effect(op="add", path="/b", value=1))),
    ("a state under any name", both(response(json={"$state": "/b"}), effect(op="add", path="/{order_id}", value=1))),
    ("another state altogether", both(response(json={"$state": "/b"}), effect(op="replace", path="", value={"b": 1}))),
    ("a first step that a request tells", response(json={"$state": "/{order_id}"})),
    ("the whole state", response(json={"$state": ""})),
    ("an escaped first step", both(response(json={"$state": "/o~1~0n"}), case(state={"o/~n": {}}))),
    ("a state that a case's own route makes", both(response(json={"$state": "/b"}), case(routes=[MAKES_B]))),
    (
        "a tool that a case's own route answers",
        both(ALMOST_BOUND, case(routes=[{**MAKES_B, "method": "GET", "path": "/order/b"}])),
    ),
    (
        "a tool whose parameter stands where a route has a literal",
        both(ALMOST_BOUND, route(path="/order/x", responses=[{}])),
    ),
    ("a route whose parameter stands where a tool has a literal", both(LITERAL, route(path="/{order_id}/x"))),
    ("a tool that asks for the head of what can be got", tool(http={**TOOL_HTTP, "method": "HEAD"})),
    ("a tool that asks what can be asked", tool(http={**TOOL_HTTP, "method": "OPTIONS"})),
    ("a tool that nobody is to call and no route is near", tool(http={"method": "PUT", "path": "/nowhere"})),
    ("a tool that is only there to tempt", both(ALMOST_BOUND, expect(neverTools=["lookup_order"]))),
    ("a tool that a policy refuses", both(ALMOST_BOUND, expect(deniedTools=["lookup_order"]))),
    ("a profile that a Compose file may declare", both(top('compose_files = ["c.yaml"]'), file("c.yaml", ""), PROFILE)),
    ("faults one after the other", response_fault({"kind": "status", "times": 2}, {"kind": "empty", "skip": 2})),
    ("a cut of a body that depends on the state", response_fault({"kind": "truncated", "value": 5000})),
    ("a cut of the first answer, which alone has a body", both(WITH_AND_WITHOUT_BODY, response_fault(CUT_ONCE))),
    (
        "a cut of the first answer, after a planned failure",
        both(WITH_AND_WITHOUT_BODY, response_fault({"kind": "status", "times": 1}, {**CUT_ONCE, "skip": 1})),
    ),
    ("no answer to HEAD", both(route(method="HEAD"), response_fault({"kind": "empty"}), tool(http=None))),
    ("a toxic that waits for ever", toxic(type="timeout")),
    ("a toxic that is always there", toxic(type="reset_peer", toxicity=1, stream="upstream", target="model")),
    ("a toxic without chance", toxic(type="latency", attributes={"latency": 5, "jitter": 0})),
    ("a delay before a cut", toxics({"type": "latency", "attributes": {"latency": 5}}, {"type": "reset_peer"})),
    ("cuts of both ways", toxics(CUT, {**CUT, "stream": "upstream"})),
    ("cuts of two targets", toxics({"type": "timeout"}, {"type": "timeout", "target": "model"})),
    ("an end that is late and a cut", toxics({"type": "timeout"}, {"type": "slow_close", "attributes": {"delay": 5}})),
    ("slices", toxic(type="slicer", attributes={"average_size": 5, "delay": 0, "size_variation": 0})),
    (
        "relevance, setup, image",
        case(
            setup="true",
            image="alpine",
            expect={"relevance": ["is polite"]},
        ),
    ),
]


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in ALLOWED])
def test_what_the_contract_allows_is_no_problem(tmp_path: Path, change: Change) -> None:
    folder = SuiteFolder(tmp_path / "desk")
    change(folder)
    assert load_suite(folder.write()).cases
