"""What an unmatched request is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.open_world import open_attempt


def route(route_id: str, method: str, path: str, **keys: Any) -> dict[str, Any]:
    return {"id": route_id, "method": method, "path": path, "responses": [{}], **keys}


ROUTES = [
    route("order", "GET", "/orders/{id}"),
    route("policy", "GET", "/policy", match={"query": {"reason": "damaged"}, "headers": {"X-Shop": "one"}}),
    route("refund", "POST", "/refunds", match={"json": {"order": {"id": "a/b"}, "amount": 5}}),
]


def ask(folder: Path, method: str, target: str, json_body: Any = None, **headers: Any) -> Any:
    one = open_attempt(folder, routes=ROUTES)
    status, body = one.read(method, target, json_body, **headers)
    (served,) = one.close().served
    assert status == served.row.status == 404
    assert served.row.route is None
    assert served.unmatched is not None
    assert body["misses"] == [miss.to_json() for miss in served.unmatched.misses]
    return body, served.unmatched


def test_a_misspelt_path_names_the_route_that_was_meant(tmp_path: Path) -> None:
    body, unmatched = ask(tmp_path, "GET", "/order/7")
    assert unmatched.nearest_route == "order"
    assert body["nearestRoute"] == {"id": "order", "method": "GET", "path": "/orders/{id}"}
    assert body["misses"] == [{"part": "path", "expected": "/orders/{id}", "found": "/order/7"}]
    assert body["detail"] == (
        "No route answers GET /order/7. The nearest is order (GET /orders/{id}): "
        "the path is /order/7, expected /orders/{id}"
    )


def test_the_root_is_near_to_something_too(tmp_path: Path) -> None:
    assert ask(tmp_path, "GET", "/")[1].nearest_route == "policy"


def test_an_empty_text_is_shown_as_one(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, routes=[route("blank", "GET", "/q", match={"query": {"q": ""}})])
    assert one.read("GET", "/q?q=x")[1]["detail"].endswith('the query q is x, expected ""')


def test_another_method_is_named(tmp_path: Path) -> None:
    body, unmatched = ask(tmp_path, "DELETE", "/orders/7")
    assert unmatched.nearest_route == "order"
    assert body["misses"] == [{"part": "method", "expected": "GET", "found": "DELETE"}]


def test_query_and_header_are_named_with_what_was_found(tmp_path: Path) -> None:
    body, _ = ask(tmp_path, "GET", "/policy?reason=lost&reason=damaged")
    assert body["misses"] == [
        {"part": "query", "name": "reason", "expected": "damaged", "found": "lost"},
        {"part": "header", "name": "x-shop", "expected": "one"},
    ]
    assert "the header x-shop is missing, expected one" in body["detail"]


def test_json_parts_are_named_by_pointer(tmp_path: Path) -> None:
    body, _ = ask(tmp_path, "POST", "/refunds", {"order": {"id": "x"}})
    assert body["misses"] == [
        {"part": "json", "name": "/order/id", "expected": "a/b", "found": "x"},
        {"part": "json", "name": "/amount", "expected": 5},
    ]


def test_a_body_that_is_no_json_misses_as_a_whole(tmp_path: Path) -> None:
    body, _ = ask(tmp_path, "POST", "/refunds")
    assert body["misses"] == [{"part": "json", "name": "", "expected": {"order": {"id": "a/b"}, "amount": 5}}]
    assert body["detail"].endswith('the JSON body is missing, expected {"order": {"id": "a/b"}, "amount": 5}')


BODY = b'{"order": {"id": "a/b"}, "amount": 5}'


@pytest.mark.parametrize(
    ("headers", "found", "why"),
    [
        ({}, None, "it has no content-type"),
        ({"content_type": "text/plain"}, "text/plain", "its content-type is text/plain"),
        ({"content_type": "jsn"}, "jsn", "its content-type is jsn"),
    ],
)
def test_a_body_that_was_not_read_as_json_is_told_of_its_content_type_and_not_of_missing_parts(
    tmp_path: Path, headers: dict[str, str], found: str | None, why: str
) -> None:
    twin = route("twin", "POST", "/refunds", match={"json": {"amount": 6}})
    one = open_attempt(tmp_path, routes=[*ROUTES, twin])
    _, body = one.read("POST", "/refunds", body=BODY, **headers)
    (served,) = one.close().served
    assert served.unmatched is not None
    (miss,) = served.unmatched.misses
    assert (miss.part, miss.name, miss.expected, miss.found) == ("header", "content-type", "application/json", found)
    assert body["detail"].endswith(
        f": the body was not read as JSON, because {why}; send the header content-type: application/json"
    )


def test_a_body_that_says_json_and_is_none_is_not_called_missing(tmp_path: Path) -> None:
    body, _ = ask(tmp_path, "POST", "/refunds", body=BODY[:-1], content_type="application/json")
    assert 'the body is no JSON that the lab can read, expected {"order"' in body["detail"]


def test_a_part_that_an_answer_refers_to_is_not_called_missing_where_the_body_was_not_read(tmp_path: Path) -> None:
    echo = route("echo", "POST", "/echo") | {"responses": [{"json": {"$request": "/json/amount"}}]}
    one = open_attempt(tmp_path, routes=[echo])
    assert one.read("POST", "/echo", body=BODY, content_type="application/json") == (200, 5)
    _, body = one.read("POST", "/echo", body=BODY, content_type="text/plain")
    assert "because its content-type is text/plain" in body["detail"]


def test_what_was_found_is_shown_only_so_far(tmp_path: Path) -> None:
    body, _ = ask(tmp_path, "POST", "/refunds", {"order": {"id": "x" * 1_000_000}, "amount": 5})
    assert len(body["misses"][0]["found"]) < 300


def test_a_path_with_nothing_in_common_has_no_nearest_route(tmp_path: Path) -> None:
    body, unmatched = ask(tmp_path, "GET", "/favicon.ico")
    assert unmatched.nearest_route is None
    assert body["nearestRoute"] is None
    assert body["detail"] == "No route answers GET /favicon.ico."


def test_a_suite_without_routes_answers_too(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, routes=[])
    assert one.read("GET", "/")[0] == 404


def test_a_part_that_only_has_another_value_is_told_with_every_value_that_would_do(tmp_path: Path) -> None:
    reasons = [
        route(f"policy-{reason}", "GET", "/rules", match={"query": {"reason": reason}})
        for reason in ("damaged", "wrong_item", "changed_mind")
    ]
    one = open_attempt(tmp_path, routes=[*reasons, route("other", "GET", "/rules/all")])
    _, body = one.read("GET", "/rules?reason=too_late")
    assert body["detail"].endswith("the query reason is too_late, expected damaged or wrong_item or changed_mind")


def test_a_path_that_leads_to_nothing_in_the_state_says_so(tmp_path: Path) -> None:
    order = route("order", "GET", "/orders/{id}") | {"responses": [{"json": {"$state": "/orders/{id}"}}]}
    one = open_attempt(tmp_path, routes=[order], state={"orders": {"a-1": {}}})
    _, body = one.read("GET", "/orders/b-2")
    assert body["detail"].endswith("the path leads to /orders/b-2 in the state, and nothing is there")
