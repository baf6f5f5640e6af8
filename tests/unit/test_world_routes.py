"""What an attempt's world answers: routes, sequences, state, effects, and what is in the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from contracts.canonical import digest_of_bytes, digest_of_json
from tests.fakes.open_world import case, open_attempt

STATE: dict[str, Any] = {"orders": {"a-1": {"amount": 5, "tags": ["x"]}, "b/2": {"amount": 7}}, "log": []}


def get(path: str, *responses: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"id": "get", "method": "GET", "path": path, "responses": list(responses) or [{}], **keys}


def post(path: str, *effects: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"id": "post", "method": "POST", "path": path, "responses": [{"json": {}}], "effects": list(effects), **keys}


def test_responses_come_in_order_and_the_last_repeats(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, routes=[get("/a", {"json": 1}, {"status": 202, "json": 2}, {"text": "3"})])
    assert one.read("GET", "/a") == (200, 1)
    assert one.read("GET", "/a") == (202, 2)
    assert one.ask("GET", "/a").answer.body == b"3"
    assert one.ask("GET", "/a").answer.body == b"3"


@pytest.mark.parametrize(
    ("response", "headers", "body"),
    [
        ({"json": {"é": [1, None]}}, {"content-type": "application/json"}, '{"é":[1,null]}'.encode()),
        ({"json": None}, {"content-type": "application/json"}, b"null"),
        ({"text": "hé"}, {"content-type": "text/plain; charset=utf-8"}, "hé".encode()),
        ({"bytesBase64": "AP8="}, {"content-type": "application/octet-stream"}, b"\x00\xff"),
        ({}, {}, b""),
        (
            {"text": "a,b", "headers": {"Content-Type": "text/csv", "X-One": "1"}},
            {"content-type": "text/csv", "x-one": "1"},
            b"a,b",
        ),
    ],
)
def test_an_answer_has_its_content_type_its_own_headers_and_its_length(
    tmp_path: Path, response: dict[str, Any], headers: dict[str, str], body: bytes
) -> None:
    one = open_attempt(tmp_path, routes=[get("/a", response)])
    answer = one.ask("GET", "/a").answer
    assert answer.headers == headers | {"content-length": str(len(body))}
    assert answer.body == body
    sha256 = digest_of_bytes(body).removeprefix("sha256:")
    assert answer.digest == digest_of_json({"status": 200, "headers": headers, "bodySha256": sha256})


def test_an_answer_without_content_has_no_length(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, routes=[get("/a", {"status": 204})])
    assert one.ask("GET", "/a").answer.headers == {}


def test_state_and_request_are_filled_into_bodies(tmp_path: Path) -> None:
    body = {
        "order": {"$state": "/orders/{id}"},
        "path": {"$request": "/path/id"},
        "query": {"$request": "/query/q"},
        "json": [{"$request": "/json/deep/0"}],
    }
    route = get("/orders/{id}", {"json": body}, method="POST")
    one = open_attempt(tmp_path, routes=[route], state=STATE)
    status, answer = one.read("POST", "/orders/a-1?q=x&q=y", {"deep": [{"k": 1}]})
    assert status == 200
    assert answer == {"order": STATE["orders"]["a-1"], "path": "a-1", "query": "x", "json": [{"k": 1}]}


def test_a_parameter_with_a_slash_is_one_key_of_the_state(tmp_path: Path) -> None:
    route = get("/orders/{id}", {"json": {"$state": "/orders/{id}/amount"}})
    one = open_attempt(tmp_path, routes=[route], state=STATE)
    assert one.read("GET", "/orders/b%2F2") == (200, 7)


def test_effects_change_the_state_before_the_body_is_filled_in(tmp_path: Path) -> None:
    add = {"op": "add", "path": "/log/-", "value": {"amount": {"$request": "/json/amount"}}}
    set_ = {"op": "replace", "path": "/orders/{id}/amount", "value": {"$request": "/json/amount"}}
    route = post("/orders/{id}", add, set_, responses=[{"json": {"$state": ""}}])
    one = open_attempt(tmp_path, routes=[route], state=STATE)
    _, answer = one.read("POST", "/orders/b%2F2", {"amount": 9})
    assert answer["log"] == [{"amount": 9}]
    assert answer["orders"]["b/2"] == {"amount": 9}
    one.read("POST", "/orders/a-1", {"amount": 1})
    closed = one.close()
    assert closed.state["log"] == [{"amount": 9}, {"amount": 1}]
    assert closed.state["orders"]["a-1"] == {"amount": 1, "tags": ["x"]}


def test_every_operation_of_json_patch_works_and_shares_nothing_with_the_suite(tmp_path: Path) -> None:
    effects: list[dict[str, Any]] = [
        {"op": "test", "path": "/orders/a-1/amount", "value": 5},
        {"op": "copy", "from": "/orders/{id}", "path": "/copied"},
        {"op": "add", "path": "/copied/tags/0", "value": "y"},
        {"op": "move", "from": "/orders/b~12", "path": "/moved"},
        {"op": "remove", "path": "/orders/a-1/tags/0"},
        {"op": "replace", "path": "/log", "value": {"made": {}}},
        {"op": "add", "path": "/log/made/here", "value": 1},
    ]
    one = open_attempt(tmp_path, routes=[post("/go/{id}", *effects)], state=STATE)
    assert one.read("POST", "/go/a-1", {})[0] == 200
    assert one.close().state == {
        "orders": {"a-1": {"amount": 5, "tags": []}},
        "log": {"made": {"here": 1}},
        "copied": {"amount": 5, "tags": ["y", "x"]},
        "moved": {"amount": 7},
    }
    again = open_attempt(tmp_path / "again", routes=[post("/go/{id}", *effects)], state=STATE)
    assert again.close().state == STATE


def test_an_effect_on_the_whole_state_replaces_it(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, routes=[post("/go", {"op": "replace", "path": "", "value": None})])
    assert one.read("POST", "/go", {}) == (200, {})
    assert one.close().state is None


@pytest.mark.parametrize(
    ("effect", "why"),
    [
        ({"op": "remove", "path": "/orders/none"}, "remove /orders/none: /orders/none is missing"),
        (
            {"op": "replace", "path": "/orders/none/{id}", "value": 1},
            "replace /orders/none/a-1: /orders/none is missing",
        ),
        (
            {"op": "add", "path": "/orders/a-1/amount/x", "value": 1},
            "add /orders/a-1/amount/x: /orders/a-1/amount/x is below what is neither an object nor a list",
        ),
        ({"op": "add", "path": "/log/7", "value": 1}, "add /log/7: /log/7 is out of the range of the list there"),
        ({"op": "remove", "path": "/log/-"}, "remove /log/-: /log/- is no index of the list there"),
        ({"op": "replace", "path": "/log/0x", "value": 1}, "replace /log/0x: /log/0x is no index of the list there"),
        (
            {"op": "test", "path": "/orders/a-1/amount", "value": 6},
            "test /orders/a-1/amount: the value there is another",
        ),
        (
            {"op": "move", "from": "/log/5", "path": "/log/-"},
            "move /log/-: /log/5 is out of the range of the list there",
        ),
        ({"op": "copy", "from": "/log", "path": "/orders/none/x"}, "copy /orders/none/x: /orders/none is missing"),
        (
            {"op": "add", "path": "/log/-", "value": {"$state": "/orders/{id}/none"}},
            "add /log/-: $state /orders/a-1/none: nothing is at /orders/a-1/none in the state",
        ),
    ],
)
def test_an_effect_that_cannot_apply_is_the_suites_error_and_changes_nothing(
    tmp_path: Path, effect: dict[str, Any], why: str
) -> None:
    first = {"op": "add", "path": "/log/-", "value": 1}
    one = open_attempt(tmp_path, routes=[post("/go/{id}", first, effect)], state=STATE)
    status, body = one.read("POST", "/go/a-1", {})
    assert status == 500
    assert body["detail"].startswith(f"route post: effect {why}")
    closed = one.close()
    assert closed.suite_error == body["detail"]
    assert closed.state == STATE
    assert [(one.row.status, one.row.route) for one in closed.served] == [(500, "post")]


@pytest.mark.parametrize(
    ("value", "miss"),
    [
        ({"$request": "/json/none"}, {"part": "json", "name": "/none", "expected": "any"}),
        ({"$request": "/query/q"}, {"part": "query", "name": "q", "expected": "any"}),
        ({"all": {"$request": "/json"}}, {"part": "json", "name": "", "expected": "any"}),
        (
            {"$state": "/orders/{id}x/amount"},
            {"part": "path", "name": "/orders/a-1x", "expected": "a value in the state"},
        ),
    ],
)
def test_a_request_that_refers_to_nothing_is_unmatched_and_changes_nothing(
    tmp_path: Path, value: dict[str, str], miss: dict[str, str]
) -> None:
    effects: list[dict[str, Any]] = [{"op": "add", "path": "/log/-", "value": each} for each in (1, value)]
    one = open_attempt(tmp_path, routes=[post("/go/{id}", *effects)], state=STATE)
    status, body = one.read("POST", "/go/a-1", body=b"no JSON", content_type="application/json")
    assert (status, body["nearestRoute"]["id"], body["misses"]) == (404, "post", [miss])
    closed = one.close()
    assert closed.suite_error is None
    assert closed.state == STATE
    assert [(one.row.status, one.row.route, one.unmatched is not None) for one in closed.served] == [(404, None, True)]


def test_an_invented_id_is_unmatched_and_no_turn_is_used_up(tmp_path: Path) -> None:
    effect = {"op": "add", "path": "/log/-", "value": 1}
    responses = [{"json": {"$state": "/orders/{id}"}}, {"json": "second"}]
    one = open_attempt(tmp_path, routes=[post("/o/{id}", effect, responses=responses)], state=STATE)
    assert one.read("POST", "/o/none", {})[0] == 404
    assert one.read("POST", "/o/a-1", {}) == (200, STATE["orders"]["a-1"])
    closed = one.close()
    assert closed.suite_error is None
    assert closed.state["log"] == [1]


@pytest.mark.parametrize(
    ("effect", "id_", "missing"),
    [
        ({"op": "remove", "path": "/orders/{id}"}, "none", "/orders/none"),
        ({"op": "replace", "path": "/orders/{id}/amount", "value": 1}, "none", "/orders/none"),
        ({"op": "move", "from": "/orders/{id}", "path": "/gone"}, "none", "/orders/none"),
        ({"op": "add", "path": "/log/{id}", "value": 1}, "9", "/log/9"),
        ({"op": "replace", "path": "/log/{id}", "value": 1}, "0x", "/log/0x"),
        ({"op": "replace", "path": "/log/{id}", "value": 1}, "٣", "/log/٣"),
        ({"op": "add", "path": "/log/{id}/x", "value": 1}, "1" * 5000, "/log/" + "1" * 5000),
    ],
)
def test_an_invented_id_in_an_effects_pointer_is_the_requests_fault_too(
    tmp_path: Path, effect: dict[str, Any], id_: str, missing: str
) -> None:
    one = open_attempt(tmp_path, routes=[post("/go/{id}", effect)], state=STATE)
    status, body = one.read("POST", "/go/" + quote(id_))
    assert (status, body["misses"][0]["name"]) == (404, missing)
    closed = one.close()
    assert (closed.suite_error, closed.state) == (None, STATE)


@pytest.mark.parametrize(
    "effect",
    [
        {"op": "remove", "path": "/secrets/none"},
        {"op": "replace", "path": "/secrets/0/x", "value": "sesame"},
        {"op": "add", "path": "/secrets/9", "value": "sesame"},
        {"op": "test", "path": "/secrets/0", "value": {"not": "sesame"}},
        {"op": "move", "from": "/secrets/7", "path": "/secrets/0"},
        {"op": "copy", "from": "/secrets/0/a", "path": "/b"},
        {"op": "add", "path": "/secrets/-", "value": {"$state": "/secrets/0/a"}},
        {"op": "replace", "path": "/{id}/none/x", "value": 1},
        {"op": "replace", "path": "/secrets/" + "n" * 9000, "value": 1},
    ],
)
def test_a_reason_has_no_value_of_state_or_effect_and_is_short_whatever_their_size(
    tmp_path: Path, effect: dict[str, Any]
) -> None:
    long = "l" * 9000
    state = {"secrets": ["sesame" * 100_000], long: {"key": "sesame"}}
    one = open_attempt(tmp_path, routes=[post("/go/{id}", effect)], state=state)
    status, body = one.read("POST", "/go/" + long, {})
    reason = one.close().suite_error
    assert (status, body["detail"]) == (500, reason)
    assert reason is not None
    assert "sesame" not in reason
    assert len(reason) < 1000


@pytest.mark.parametrize(
    ("test", "misses", "words"),
    [
        (
            {"path": "/orders/a-1/amount", "value": {"$request": "/json/amount"}},
            [{"part": "json", "name": "/amount", "expected": "what the state has at /orders/a-1/amount", "found": 6}],
            "the JSON body /amount is 6, expected what the state has at /orders/a-1/amount",
        ),
        (
            {"path": "/orders/a-1", "value": {"amount": {"$request": "/query/q"}}},
            [{"part": "query", "name": "q", "expected": "what the state has at /orders/a-1", "found": "x"}],
            "the query q is x, expected what the state has at /orders/a-1",
        ),
        (
            {"path": "/orders/{id}/amount", "value": 7},
            [{"part": "path", "name": "/orders/a-1/amount", "expected": "the value that the route tests for"}],
            "the path leads to /orders/a-1/amount in the state, which is not the value that the route tests for",
        ),
        (
            {"path": "/log", "value": [{"$state": "/orders/{id}"}]},
            [{"part": "path", "name": "/orders/a-1", "expected": "the value that the route tests for"}],
            "which is not the value that the route tests for",
        ),
        (
            {"path": "/log", "value": {"$request": "/path/id"}},
            [{"part": "path", "name": "id", "expected": "what the state has at /log", "found": "a-1"}],
            "the path id is a-1, expected what the state has at /log",
        ),
    ],
)
def test_a_test_that_the_request_makes_untrue_is_the_requests_fault(
    tmp_path: Path, test: dict[str, Any], misses: list[dict[str, Any]], words: str
) -> None:
    one = open_attempt(tmp_path, routes=[post("/go/{id}", {"op": "test", **test})], state=STATE)
    status, body = one.read("POST", "/go/a-1?q=x", {"amount": 6})
    assert (status, body["misses"]) == (404, misses)
    assert words in body["detail"]
    closed = one.close()
    assert (closed.suite_error, closed.state) == (None, STATE)


@pytest.mark.parametrize("path", ["/nothing", "/orders/a-1/none"])
def test_a_test_of_what_the_suite_never_had_stays_the_suites_error(tmp_path: Path, path: str) -> None:
    test = {"op": "test", "path": path, "value": {"$request": "/json/amount"}}
    one = open_attempt(tmp_path, routes=[post("/go/{id}", test)], state=STATE)
    assert one.read("POST", "/go/a-1", {"amount": 6})[0] == 500
    assert one.close().suite_error is not None


def test_the_first_error_of_the_suite_is_kept(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, routes=[get("/o/{id}", {"json": {"$state": "/orders/{id}/none"}})], state=STATE)
    one.read("GET", "/o/a-1")
    one.read("GET", "/o/b~2")
    assert "/orders/a-1" in (one.close().suite_error or "")


def test_a_cases_own_state_is_merged_and_its_routes_come_first(tmp_path: Path) -> None:
    own = get("/{any}", {"json": "own"}, id="own")
    cases = [case("one", routes=[own], state={"orders": {"a-1": None, "c": 1}, "log": {"deep": None}}), case("two")]
    suite_route = get("/a", {"json": "suite"}, priority=9)
    one = open_attempt(tmp_path, cases=cases, routes=[suite_route, get("/x/y", id="other")], state=STATE)
    assert one.read("GET", "/a") == (200, "own")
    assert one.ask("GET", "/x/y").answer.status == 200
    assert one.close().state == {"orders": {"b/2": {"amount": 7}, "c": 1}, "log": {}}
    two = open_attempt(tmp_path / "two", cases=cases, routes=[suite_route], state=STATE, opening={"case": "two"})
    assert two.read("GET", "/a") == (200, "suite")
    assert two.close().state == STATE


def test_head_answers_as_get_would_and_moves_nothing(tmp_path: Path) -> None:
    effect = {"op": "add", "path": "/log/-", "value": 1}
    route = get("/a", {"text": "first", "headers": {"x-a": "1"}}, {"text": "2"}, effects=[effect])
    one = open_attempt(tmp_path, routes=[route], state=STATE)
    head = one.ask("HEAD", "/a").answer
    assert head.headers == {"content-type": "text/plain; charset=utf-8", "x-a": "1", "content-length": "5"}
    assert head.body == b""
    assert one.ask("GET", "/a").answer.body == b"first"
    closed = one.close()
    assert closed.state["log"] == [1]
    assert [(served.row.method, served.row.route) for served in closed.served] == [("HEAD", "get"), ("GET", "get")]
    assert closed.served[0].row.response_digest != closed.served[1].row.response_digest


def test_head_with_a_route_of_its_own_is_a_route_like_any_other(tmp_path: Path) -> None:
    routes = [get("/a", {"text": "get"}), get("/a", {"status": 404}, id="head", method="HEAD")]
    one = open_attempt(tmp_path, routes=routes)
    assert one.ask("HEAD", "/a").answer.status == 404


def test_the_journal_has_a_row_for_each_request_in_order(tmp_path: Path) -> None:
    routes = [get("/a", {"json": 1, "delayMs": 25}), post("/b", responses=[{"status": 201}])]
    one = open_attempt(tmp_path, routes=routes, opening={"attempt": 3})
    assert one.ask("GET", "/a?x=1").delay_ms == 25
    one.ask("POST", "/b", {"k": 1})
    one.ask("DELETE", "/c%20d")
    rows = [served.row for served in one.close().served]
    assert [(row.case, row.attempt, row.sequence) for row in rows] == [("one", 3, 1), ("one", 3, 2), ("one", 3, 3)]
    assert [(row.method, row.path, row.route, row.status) for row in rows] == [
        ("GET", "/a", "get", 200),
        ("POST", "/b", "post", 201),
        ("DELETE", "/c d", None, 404),
    ]
    assert [row.delay_ms for row in rows] == [25, 0, 0]
    assert {(row.via, row.fault, row.tool) for row in rows} == {("http", None, None)}
    assert one.prefix not in "".join(row.to_line() for row in rows)


def test_response_texts_are_cut_at_64_kib_between_characters_and_digested_whole(tmp_path: Path) -> None:
    routes = [
        get("/long", {"text": "aé" * 40_000}),
        get("/bytes", {"bytesBase64": "AP8="}, id="bytes"),
        get("/big-bytes", {"bytesBase64": "//8" + "A" * 120_001}, id="big"),
    ]
    one = open_attempt(tmp_path, routes=routes)
    whole = one.ask("GET", "/long").answer
    one.ask("GET", "/bytes")
    one.ask("GET", "/big-bytes")
    long, short_bytes, long_bytes = one.close().served
    assert long.response_text is not None
    assert 64 * 1024 - 2 < len(long.response_text.encode()) <= 64 * 1024
    assert whole.body.decode().startswith(long.response_text)
    assert long.row.response_digest == whole.digest
    assert short_bytes.response_text is None
    assert long_bytes.response_text is None
