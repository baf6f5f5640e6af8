"""Every rule of routes.json: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import NO_PARAM, BrokenRule, Change, case, effect, response, route, second_route
from tests.fakes.suite_folder import ROUTE
from tests.fakes.suite_problems import assert_exact_problem

ROUTES: list[BrokenRule] = [
    (
        "a route id that is there twice",
        second_route(id="read-order"),
        "routes.json /routes/1/id (line 16)",
        "is there twice",
    ),
    (
        "a route id of another case",
        second_route(id="Read-Order"),
        "routes.json /routes/1/id (line 16)",
        "only by case or Unicode form",
    ),
    (
        "two equally good routes",
        second_route(path="/orders/{id}"),
        "routes.json /routes/1 (line 15)",
        'matches as well as "read-order"',
    ),
    ("no response", route(responses=[]), "routes.json /routes/0/responses (line 7)", "at least 1 items"),
    (
        "an unknown method",
        second_route(method="PSOT"),
        "routes.json /routes/1/method (line 17)",
        'unknown method "PSOT"; did you mean "POST"?',
    ),
    (
        "a method that no server passes on",
        second_route(method="CONNECT"),
        "routes.json /routes/1/method (line 17)",
        'unknown method "CONNECT"',
    ),
    (
        "a path of the scripted model",
        second_route(path="/v1/models"),
        "routes.json /routes/1/path (line 18)",
        'the fixture API itself answers "/v1/models"',
    ),
    (
        "the prefix of an attempt",
        second_route(path=f"/~{'0a' * 16}/orders"),
        "routes.json /routes/1/path (line 18)",
        '"/~0a0a0a…" begins as the prefix of an attempt does; write only the path after it',
    ),
    (
        "the clock's own path, whatever the method",
        second_route(method="POST", path="/clock"),
        "routes.json /routes/1/path (line 18)",
        'the fixture API itself answers "/clock"',
    ),
    (
        "an escaped slash",
        second_route(path="/a%2Fb"),
        "routes.json /routes/1/path (line 18)",
        "paths are decoded before they are compared; only a parameter, such as {name}, takes a segment with a slash",
    ),
    (
        "an empty parameter, not compared with others",
        second_route(path="/orders/{}"),
        "routes.json /routes/1/path (line 18)",
        "a parameter is a whole segment",
    ),
    (
        "a parameter with a space, not compared with others",
        second_route(path="/orders/{a b}"),
        "routes.json /routes/1/path (line 18)",
        "a parameter is a whole segment",
    ),
    ("an escaped path", second_route(path="/a%20b"), "routes.json /routes/1/path (line 18)", 'write "a b"'),
    (
        "a path without slash",
        second_route(path="second"),
        "routes.json /routes/1/path (line 18)",
        'found the text "second"; did you mean "/second"?',
    ),
    (
        "a delay of days",
        response(delayMs=86_400_001),
        "routes.json /routes/0/responses/0/delayMs (line 9)",
        "expected at most 86400000",
    ),
    (
        "a number for a query value",
        second_route(match={"query": {"a": 1}}),
        "routes.json /routes/1/match/query/a (line 24)",
        'put it in quotes: "1"',
    ),
    (
        "true for a header value",
        response(headers={"a": True}),
        "routes.json /routes/0/responses/0/headers/a (line 10)",
        'put it in quotes: "true"',
    ),
    (
        "a misspelt part of a match",
        second_route(match={"header": {}}),
        "routes.json /routes/1/match/header (line 23)",
        'did you mean "headers"?',
    ),
    ("a route without id", second_route(id=""), "routes.json /routes/1/id (line 16)", "expected at least 1 characters"),
    (
        "a misspelt state reference",
        response(json={"$sate": "/a"}),
        "routes.json /routes/0/responses/0/json/$sate (line 10)",
        'unknown reference "$sate"; did you mean "$state"?',
    ),
    (
        "a misspelt request reference",
        response(json=[{"$reqest": "/json"}]),
        "routes.json /routes/0/responses/0/json/0/$reqest (line 11)",
        'did you mean "$request"?',
    ),
    (
        "a removal of everything",
        effect(op="remove", path=""),
        "routes.json /routes/0/effects/0/path (line 17)",
        "the whole state cannot be removed",
    ),
    (
        "a move into itself",
        effect(**{"op": "move", "from": "/a", "path": "/a/b"}),
        "routes.json /routes/0/effects/0/from (line 17)",
        "cannot be moved into itself",
    ),
    (
        "a lower-case method",
        route(method="get"),
        "routes.json /routes/0/method (line 5)",
        'a method in capital letters, such as GET, found the text "get"; did you mean "GET"?',
    ),
    ("a query in the path", second_route(path="/a?b=c"), "routes.json /routes/1/path (line 18)", "has no ? or #"),
    (
        "half a parameter",
        second_route(path="/a-{b}"),
        "routes.json /routes/1/path (line 18)",
        '"a-{b}": a parameter is a whole segment',
    ),
    (
        "a parameter twice",
        second_route(path="/{b}/{b}"),
        "routes.json /routes/1/path (line 18)",
        "the parameter {b} is there twice",
    ),
    (
        "a segment that clients drop",
        second_route(path="/a/../b"),
        "routes.json /routes/1/path (line 18)",
        'no client sends a segment ".."',
    ),
    ("two bodies", response(text="a", json=1), "routes.json /routes/0/responses/0 (line 8)", "has json and text"),
    (
        "bad base64",
        response(bytesBase64="a"),
        "routes.json /routes/0/responses/0/bytesBase64 (line 9)",
        "no valid base64",
    ),
    (
        "an interim status",
        response(status=100),
        "routes.json /routes/0/responses/0/status (line 9)",
        "expected at least 200, found the number 100",
    ),
    (
        "a body that cannot be",
        response(status=204, text="a"),
        "routes.json /routes/0/responses/0/text (line 10)",
        "has no body",
    ),
    (
        "a header name with a space",
        response(headers={"a b": "c"}),
        "routes.json /routes/0/responses/0/headers/a b (line 10)",
        "is no name of a header",
    ),
    (
        "a header value with a line end",
        response(headers={"a": "b\r\nc: d"}),
        "routes.json /routes/0/responses/0/headers/a (line 10)",
        "HTTP cannot carry",
    ),
    (
        "a header value above U+00FF",
        response(headers={"a": "\u20ac"}),
        "routes.json /routes/0/responses/0/headers/a (line 10)",
        "HTTP cannot carry",
    ),
    (
        "a header of the connection",
        response(headers={"Content-Length": "3"}),
        "routes.json /routes/0/responses/0/headers/Content-Length (line 10)",
        "belongs to the connection",
    ),
    (
        "a header twice",
        response(headers={"a": "1", "A": "2"}),
        "routes.json /routes/0/responses/0/headers/A (line 11)",
        'differs from "a" only by case',
    ),
    (
        "a matched header without name",
        second_route(match={"headers": {"": "1"}}),
        "routes.json /routes/1/match/headers/ (line 24)",
        "no name of a header",
    ),
    (
        "an unknown state parameter",
        response(json=[{"$state": "/orders/{order}"}]),
        "routes.json /routes/0/responses/0/json/0/$state (line 11)",
        NO_PARAM,
    ),
    (
        "a state that is no pointer",
        response(json={"$state": "orders"}),
        "routes.json /routes/0/responses/0/json/$state (line 10)",
        '"orders" is no JSON pointer',
    ),
    (
        "a state that is no text",
        response(json={"$state": 3}),
        "routes.json /routes/0/responses/0/json/$state (line 10)",
        "expected a JSON pointer, found the number 3",
    ),
    (
        "a state beside another key",
        response(json={"$state": "/a", "b": 1}),
        "routes.json /routes/0/responses/0/json (line 9)",
        "no other key may be beside it",
    ),
    (
        "a part that requests have not",
        response(json={"$request": "/body/a"}),
        "routes.json /routes/0/responses/0/json/$request (line 10)",
        "expected /path/NAME, /query/NAME",
    ),
    (
        "a typo of a request part",
        response(json={"$request": "/jsn/a"}),
        "routes.json /routes/0/responses/0/json/$request (line 10)",
        'did you mean "/json/a"?',
    ),
    (
        "a request path parameter",
        response(json={"$request": "/path/order"}),
        "routes.json /routes/0/responses/0/json/$request (line 10)",
        NO_PARAM,
    ),
    (
        "a request query without name",
        response(json={"$request": "/query"}),
        "routes.json /routes/0/responses/0/json/$request (line 10)",
        "expected one name after /query/",
    ),
    (
        "an unknown operation",
        effect(op="put", path="/a", value=1),
        "routes.json /routes/0/effects/0/op (line 16)",
        '"add", "remove", "replace"',
    ),
    (
        "an effect without value",
        effect(op="add", path="/a"),
        "routes.json /routes/0/effects/0 (line 15)",
        '"add" needs the key "value"',
    ),
    (
        "an effect without from",
        effect(op="move", path="/a"),
        "routes.json /routes/0/effects/0 (line 15)",
        '"move" needs the key "from"',
    ),
    (
        "a value too many",
        effect(op="remove", path="/a", value=1),
        "routes.json /routes/0/effects/0/value (line 18)",
        '"remove" has no key "value"',
    ),
    (
        "an unknown effect parameter",
        effect(op="remove", path="/a/{order}"),
        "routes.json /routes/0/effects/0/path (line 17)",
        NO_PARAM,
    ),
    (
        "an unknown from parameter",
        effect(**{"op": "copy", "path": "/a", "from": "/{order}"}),
        "routes.json /routes/0/effects/0/from (line 18)",
        NO_PARAM,
    ),
    (
        "an effect's bad pointer",
        effect(op="remove", path="a"),
        "routes.json /routes/0/effects/0/path (line 17)",
        "is no JSON pointer",
    ),
    (
        "an effect's bad reference",
        effect(op="add", path="/a", value={"$state": "/{order}"}),
        "routes.json /routes/0/effects/0/value/$state (line 19)",
        NO_PARAM,
    ),
    (
        "a state that no case has",
        response(json={"a": [{"$state": "/ordrs/{order_id}"}]}),
        "routes.json /routes/0/responses/0/json/a/0/$state (line 12)",
        'unknown member of the state "ordrs"; did you mean "orders"?',
    ),
    *[
        (
            f"{keys['op']} of what no case has",
            effect(**keys),
            f"routes.json /routes/0/effects/0/{key} (line {line})",
            'unknown member of the state "ordrs"; did you mean "orders"?',
        )
        for key, line, keys in (
            ("path", 17, {"op": "replace", "path": "/ordrs", "value": 1}),
            ("path", 17, {"op": "remove", "path": "/ordrs/{order_id}"}),
            ("path", 17, {"op": "test", "path": "/ordrs", "value": None}),
            ("path", 17, {"op": "add", "path": "/ordrs/-", "value": 1}),
            ("from", 17, {"op": "move", "from": "/ordrs", "path": "/a"}),
            ("path", 18, {"op": "copy", "from": "/a", "path": "/ordrs/x"}),
        )
    ],
    (
        "an effect's value that no case has",
        effect(op="add", path="/b", value=[{"$state": "/ordrs"}]),
        "routes.json /routes/0/effects/0/value/0/$state (line 20)",
        'unknown member of the state "ordrs"; did you mean "orders"?',
    ),
    (
        "a state that a case's own route takes and no case has",
        case(routes=[{**ROUTE, "id": "own", "responses": [{"json": {"$state": "/ordrs"}}]}]),
        "cases.json /cases/0/routes/0/responses/0/json/$state (line 22)",
        'unknown member of the state "ordrs"; did you mean "orders"?',
    ),
]


@pytest.mark.parametrize(("change", "place", "words"), [pytest.param(*rest, id=name) for name, *rest in ROUTES])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)
