"""Limits of an attempt: what counts for them, and what the first request over one is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixture_api.digests import response_digest
from tests.fakes.open_world import open_attempt

ROUTES = [{"id": path[1:], "method": "GET", "path": path, "responses": [{"json": 1}]} for path in ("/a", "/page")]
TOOLS = [{"type": "function", "function": {"name": "a", "parameters": {}}, "http": {"method": "GET", "path": "/a"}}]
TALK = {"messages": [{"role": "user", "content": "hi"}]}


def limited(folder: Path, **limits: int) -> Any:
    return open_attempt(folder, routes=ROUTES, tools=TOOLS, opening={"model": "scripted/support", **limits})


def test_the_first_request_over_the_tool_limit_is_journaled_and_breaches(tmp_path: Path) -> None:
    one = limited(tmp_path, tool_call_limit=2)
    assert one.ask("GET", "/a").answer.status == 200
    assert one.ask("GET", "/a?unknown=1").answer.status == 200
    assert not one.attempt.ended.is_set()
    over = [one.ask("GET", "/a").answer for _ in range(3)]
    assert [answer.status for answer in over] == [429, 429, 429]
    assert {answer.body for answer in over} == {over[0].body}
    assert one.attempt.ended.is_set()
    closed = one.close()
    assert closed.breached == "tool_calls"
    assert [(served.row.status, served.row.route, served.row.fault) for served in closed.served] == [
        (200, "a", None),
        (200, "a", None),
        (429, None, None),
    ]


@pytest.mark.parametrize("method", ["OPTIONS", "HEAD", "PATCH"])
def test_as_many_tool_calls_as_the_limit_says_are_served_beside_requests_that_call_none(
    tmp_path: Path, method: str
) -> None:
    one = limited(tmp_path, tool_call_limit=1, model_call_limit=1, request_limit=9)
    for path in ("/a", "/page", "/none", "/v1/models", "/v1/models/scripted/support"):
        one.ask(method, path)
    for path in ("/page", "/v1/models", "/v1/models/none", "/none"):
        one.ask("GET", path)
    assert one.ask("GET", "/a").answer.status == 200
    assert one.ask("POST", "/v1/chat/completions", TALK).answer.status == 200
    assert not one.attempt.ended.is_set()
    assert one.close().breached is None


def test_a_tool_call_that_no_route_answers_is_one_too(tmp_path: Path) -> None:
    strict = [{**ROUTES[0], "match": {"query": {"b": "c"}}}]
    one = open_attempt(tmp_path, routes=strict, tools=TOOLS, opening={"tool_call_limit": 1})
    assert [one.ask("GET", "/a").answer.status for _ in range(2)] == [404, 429]


@pytest.mark.parametrize(("path", "via"), [("/page", "http"), ("/none", "http"), ("/v1/models", "model")])
def test_a_flood_of_requests_that_call_nothing_ends_at_a_limit_of_its_own(tmp_path: Path, path: str, via: str) -> None:
    one = limited(tmp_path, tool_call_limit=1, model_call_limit=1, request_limit=2)
    asked = [one.read("GET", path) for _ in range(4)]
    assert [status for status, _ in asked[2:]] == [429, 429]
    assert asked[2][1]["title"] == "Request limit"
    assert one.attempt.ended.is_set()
    closed = one.close()
    assert closed.breached == "requests"
    assert [(served.row.via, served.row.status == 429) for served in closed.served] == [
        (via, False),
        (via, False),
        (via, True),
    ]


def test_a_refused_request_changes_nothing(tmp_path: Path) -> None:
    effect = {"op": "add", "path": "/n", "value": 1}
    routes = [{"id": "p", "method": "POST", "path": "/p", "responses": [{}], "effects": [effect]}]
    tool = {**TOOLS[0], "http": {"method": "POST", "path": "/p"}}
    one = open_attempt(tmp_path, routes=routes, tools=[tool], state={}, opening={"tool_call_limit": 0})
    assert one.ask("POST", "/p").answer.status == 429
    assert one.close().state == {}


def test_model_and_tool_limits_are_counted_apart(tmp_path: Path) -> None:
    one = limited(tmp_path, model_call_limit=1, tool_call_limit=1)
    assert one.ask("POST", "/v1/chat/completions", TALK).answer.status == 200
    assert one.ask("GET", "/a").answer.status == 200
    assert one.ask("POST", "/v1/chat/completions", TALK).answer.status == 429
    assert one.ask("GET", "/a").answer.status == 429
    closed = one.close()
    assert closed.breached == "model_calls"
    assert [(served.row.via, served.row.status) for served in closed.served] == [
        ("model", 200),
        ("http", 200),
        ("model", 429),
        ("http", 429),
    ]


def test_closing_ends_the_wait_for_a_breach(tmp_path: Path) -> None:
    one = limited(tmp_path)
    assert one.close().breached is None
    assert one.attempt.ended.is_set()


def test_the_end_of_model_calls_is_told_to_clients_in_their_own_form(tmp_path: Path) -> None:
    status, body = limited(tmp_path, model_call_limit=0).read("POST", "/v1/chat/completions", TALK)
    assert status == 429
    assert body["error"]["message"] == body["detail"]


@pytest.mark.parametrize(("limit", "path"), [("request_limit", "/page"), ("request_limit", "/v1/models")])
def test_head_over_a_limit_is_journaled_with_the_digest_of_what_was_sent_which_is_nothing(
    tmp_path: Path, limit: str, path: str
) -> None:
    one, other = (limited(tmp_path / name, **{limit: 0}) for name in ("one", "other"))
    whole, head = one.ask("GET", path).answer, other.ask("HEAD", path).answer
    assert (head.status, head.headers, head.body) == (429, whole.headers, b"")
    (row,) = (served.row for served in other.close().served)
    assert row.response_digest == response_digest(b"", tail=whole.head.digest_tail) != whole.digest
