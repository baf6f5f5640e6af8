"""Every rule of routes.json: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import NO_PARAM, BrokenRule, Change, effect, response, route, second_route
from tests.fakes.suite_problems import assert_only_problem

ROUTES: list[BrokenRule] = [
    ("a route id that is there twice", second_route(id="read-order"), "routes.json /routes/1/id", "is there twice"),
    ("a route id of another case", second_route(id="Read-Order"), "/routes/1/id", "only by case or Unicode form"),
    (
        "two equally good routes",
        second_route(path="/orders/{id}"),
        "routes.json /routes/1",
        'matches as well as "read-order"',
    ),
    ("no response", route(responses=[]), "routes.json /routes/0/responses", "at least 1 items"),
    ("a lower-case method", route(method="get"), "/routes/0/method", "a method in capital letters"),
    ("a query in the path", second_route(path="/a?b=c"), "/routes/1/path", "has no ? or #"),
    ("half a parameter", second_route(path="/a-{b}"), "/routes/1/path", '"a-{b}": a parameter is a whole segment'),
    ("a parameter twice", second_route(path="/{b}/{b}"), "/routes/1/path", "the parameter {b} is there twice"),
    ("a segment that clients drop", second_route(path="/a/../b"), "/routes/1/path", 'no client sends a segment ".."'),
    ("two bodies", response(text="a", json=1), "/routes/0/responses/0", "has json and text"),
    ("bad base64", response(bytesBase64="a"), "/routes/0/responses/0/bytesBase64", "no valid base64"),
    ("an interim status", response(status=100), "/routes/0/responses/0/status", "is no final answer"),
    ("a body that cannot be", response(status=204, text="a"), "/routes/0/responses/0/text", "has no body"),
    (
        "a header name with a space",
        response(headers={"a b": "c"}),
        "/responses/0/headers/a b",
        "is no name of a header",
    ),
    ("a header value with a line end", response(headers={"a": "b\r\nc: d"}), "/headers/a", "HTTP cannot carry"),
    ("a header value above U+00FF", response(headers={"a": "\u20ac"}), "/headers/a", "HTTP cannot carry"),
    (
        "a header of the connection",
        response(headers={"Content-Length": "3"}),
        "/Content-Length",
        "belongs to the connection",
    ),
    (
        "a header twice",
        response(headers={"a": "1", "A": "2"}),
        "/routes/0/responses/0/headers/A",
        'differs from "a" only by case',
    ),
    (
        "a matched header without name",
        second_route(match={"headers": {"": "1"}}),
        "/routes/1/match/headers/",
        "no name of a header",
    ),
    (
        "an unknown state parameter",
        response(json=[{"$state": "/orders/{order}"}]),
        "/responses/0/json/0/$state",
        NO_PARAM,
    ),
    ("a state that is no pointer", response(json={"$state": "orders"}), "/json/$state", '"orders" is no JSON pointer'),
    (
        "a state that is no text",
        response(json={"$state": 3}),
        "/json/$state",
        "expected a JSON pointer, found the number 3",
    ),
    (
        "a state beside another key",
        response(json={"$state": "/a", "b": 1}),
        "/responses/0/json",
        "no other key may be beside it",
    ),
    (
        "a part that requests have not",
        response(json={"$request": "/body/a"}),
        "/json/$request",
        "expected /path/NAME, /query/NAME",
    ),
    ("a typo of a request part", response(json={"$request": "/jsn/a"}), "/json/$request", 'did you mean "/json/a"?'),
    ("a request path parameter", response(json={"$request": "/path/order"}), "/json/$request", NO_PARAM),
    (
        "a request query without name",
        response(json={"$request": "/query"}),
        "/json/$request",
        "expected one name after /query/",
    ),
    (
        "an unknown operation",
        effect(op="put", path="/a", value=1),
        "/routes/0/effects/0/op",
        '"add", "remove", "replace"',
    ),
    ("an effect without value", effect(op="add", path="/a"), "/routes/0/effects/0", '"add" needs the key "value"'),
    ("an effect without from", effect(op="move", path="/a"), "/routes/0/effects/0", '"move" needs the key "from"'),
    ("a value too many", effect(op="remove", path="/a", value=1), "/effects/0/value", '"remove" has no key "value"'),
    ("an unknown effect parameter", effect(op="remove", path="/a/{order}"), "/effects/0/path", NO_PARAM),
    (
        "an unknown from parameter",
        effect(**{"op": "copy", "path": "/a", "from": "/{order}"}),
        "/effects/0/from",
        NO_PARAM,
    ),
    ("an effect's bad pointer", effect(op="remove", path="a"), "/effects/0/path", "is no JSON pointer"),
    ("an effect's bad reference", effect(op="add", path="/a", value={"$state": "/{order}"}), "/value/$state", NO_PARAM),
]


@pytest.mark.parametrize(("change", "where", "words"), [pytest.param(*rest, id=name) for name, *rest in ROUTES])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, where: str, words: str) -> None:
    assert_only_problem(tmp_path, change, where=where, words=words)
