"""Limits of an attempt: what counts for them, and what the first request over one is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixture_api.digests import response_digest
from tests.fakes.open_world import open_attempt

ROUTES = [{"id": "a", "method": "GET", "path": "/a", "responses": [{"json": 1}]}]
TALK = {"messages": [{"role": "user", "content": "hi"}]}


def limited(folder: Path, **limits: int) -> Any:
    return open_attempt(folder, routes=ROUTES, opening={"model": "scripted/support", **limits})


def test_the_first_request_over_the_tool_limit_is_journaled_and_breaches(tmp_path: Path) -> None:
    one = limited(tmp_path, tool_call_limit=2)
    assert one.ask("GET", "/a").answer.status == 200
    assert one.ask("GET", "/none").answer.status == 404
    assert not one.attempt.ended.is_set()
    over = [one.ask("GET", "/a").answer for _ in range(3)]
    assert [answer.status for answer in over] == [429, 429, 429]
    assert {answer.body for answer in over} == {over[0].body}
    assert one.attempt.ended.is_set()
    closed = one.close()
    assert closed.breached == "tool_calls"
    assert [(served.row.status, served.row.route, served.row.fault) for served in closed.served] == [
        (200, "a", None),
        (404, None, None),
        (429, None, None),
    ]


def test_a_refused_request_changes_nothing(tmp_path: Path) -> None:
    effect = {"op": "add", "path": "/n", "value": 1}
    routes = [{"id": "p", "method": "POST", "path": "/p", "responses": [{}], "effects": [effect]}]
    one = open_attempt(tmp_path, routes=routes, state={}, opening={"tool_call_limit": 0})
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


@pytest.mark.parametrize(("limit", "path"), [("tool_call_limit", "/a"), ("model_call_limit", "/v1/models")])
def test_head_over_a_limit_is_journaled_with_the_digest_of_what_was_sent_which_is_nothing(
    tmp_path: Path, limit: str, path: str
) -> None:
    one, other = (limited(tmp_path / name, **{limit: 0}) for name in ("one", "other"))
    whole, head = one.ask("GET", path).answer, other.ask("HEAD", path).answer
    assert (head.status, head.headers, head.body) == (429, whole.headers, b"")
    (row,) = (served.row for served in other.close().served)
    assert row.response_digest == response_digest(b"", tail=whole.head.digest_tail) != whole.digest
