"""Which route answers a request."""

from __future__ import annotations

import json
from typing import Any

from contracts.suite.route import RoutesFile
from fixture_api.paths import PathTable
from fixture_api.request import read_request, read_target
from fixture_api.routing import RouteTable, compile_routes, first_holding, json_holds


def table(*routes: dict[str, Any]) -> RouteTable:
    whole = [{"responses": [{}], "method": "GET"} | route for route in routes]
    return compile_routes(RoutesFile.model_validate_json(json.dumps({"routes": whole})).routes)


def found(routes: RouteTable, path: str, *, method: str = "GET", body: Any = None, **headers: str) -> str | None:
    raw_path, _, query = path.encode().partition(b"?")
    wire = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    content = b""
    if body is not None:
        content = json.dumps(body).encode()
        wire.append((b"content-type", b"application/json"))
    request = read_request(read_target(method, raw_path), query_string=query, headers=wire, body=content)
    hit = first_holding(routes.fitting(method, request.target.segments), request)
    return hit.route.route_id if hit else None


def test_method_and_path_select() -> None:
    routes = table(
        {"id": "a", "path": "/a"}, {"id": "post-a", "path": "/a", "method": "POST"}, {"id": "b", "path": "/b"}
    )
    assert found(routes, "/a") == "a"
    assert found(routes, "/a", method="POST") == "post-a"
    assert found(routes, "/b") == "b"
    assert found(routes, "/c") is None
    assert found(routes, "/a/") is None
    assert found(routes, "/A") is None


def test_a_literal_segment_beats_a_parameter_from_the_left() -> None:
    routes = table(
        {"id": "both", "path": "/{a}/{b}"},
        {"id": "right", "path": "/{a}/y"},
        {"id": "left", "path": "/x/{b}"},
        {"id": "none", "path": "/x/y"},
    )
    assert found(routes, "/x/y") == "none"
    assert found(routes, "/x/z") == "left"
    assert found(routes, "/w/y") == "right"
    assert found(routes, "/w/z") == "both"


def test_priority_beats_everything() -> None:
    routes = table({"id": "literal", "path": "/x"}, {"id": "wild", "path": "/{a}", "priority": 1})
    assert found(routes, "/x") == "wild"


def test_more_match_parts_beat_fewer_and_fall_back() -> None:
    routes = table(
        {"id": "any", "path": "/p"},
        {"id": "one", "path": "/p", "match": {"query": {"q": "1"}}},
        {"id": "two", "path": "/p", "match": {"query": {"q": "1"}, "headers": {"X-Kind": "k"}}},
    )
    assert found(routes, "/p") == "any"
    assert found(routes, "/p?q=2") == "any"
    assert found(routes, "/p?z=0&q=1") == "one"
    assert found(routes, "/p?q=1", x_kind="k") == "two"
    assert found(routes, "/p?q=1", x_kind="other") == "one"


def test_the_first_value_of_a_repeated_key_counts() -> None:
    routes = table({"id": "one", "path": "/p", "match": {"query": {"q": "1"}}})
    assert found(routes, "/p?q=1&q=2") == "one"
    assert found(routes, "/p?q=2&q=1") is None


def test_a_json_pattern_is_a_subset() -> None:
    routes = table({"id": "json", "path": "/p", "method": "POST", "match": {"json": {"a": {"b": 1}, "c": [1, 2]}}})
    assert found(routes, "/p", method="POST", body={"a": {"b": 1, "x": 0}, "c": [1, 2], "d": 0}) == "json"
    assert found(routes, "/p", method="POST", body={"a": {"b": 1}, "c": [1, 2, 3]}) is None
    assert found(routes, "/p", method="POST", body={"a": {}, "c": [1, 2]}) is None
    assert found(routes, "/p", method="POST", body=[]) is None
    assert found(routes, "/p", method="POST") is None


def test_a_null_pattern_wants_a_null_body() -> None:
    routes = table({"id": "null", "path": "/p", "method": "POST", "match": {"json": None}})
    content_type = [(b"content-type", b"application/json")]
    request = read_request(read_target("POST", b"/p"), query_string=b"", headers=content_type, body=b"null")
    assert first_holding(routes.fitting("POST", ["p"]), request) is not None
    assert found(routes, "/p", method="POST") is None


def test_true_is_not_one_and_one_is_one_point_zero() -> None:
    assert not json_holds({"a": True}, {"a": 1})
    assert not json_holds({"a": 1}, {"a": True})
    assert json_holds({"a": 1.0}, {"a": 1})
    assert not json_holds({"a": [True]}, {"a": [1]})
    assert not json_holds({}, {"a": None})
    assert json_holds({"a": None}, {"a": None})


def test_a_parameter_takes_one_whole_segment_that_is_not_empty() -> None:
    routes = table({"id": "order", "path": "/orders/{id}/lines"})
    assert found(routes, "/orders/1/lines") == "order"
    assert found(routes, "/orders/a%2Fb/lines") == "order"
    assert found(routes, "/orders//lines") is None
    assert found(routes, "/orders/1/2/lines") is None


def test_the_same_place_in_many_templates_is_one_look_up() -> None:
    rows = [("GET", f"/things/{number}/{{id}}", number) for number in range(1000)]
    things = PathTable([*rows, ("GET", "/{kind}/7/x", 1000)])
    assert [entry.value for entry in things.fitting("GET", ["things", "7", "x"])] == [7, 1000]
    assert things.fitting("GET", ["things", "2000", "x"]) == []
    assert things.fitting("POST", ["things", "7", "x"]) == []
    assert len(things._shapes["GET", 3]) == 2
