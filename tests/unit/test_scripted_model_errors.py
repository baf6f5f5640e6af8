"""When the scripted model says that it cannot: no rule, planned errors, bad requests, no such model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts.control import UnmatchedRequest
from fixture_api.patterns import compile_pattern
from tests.fakes.open_world import case, open_attempt
from tests.fakes.scripted_talk import PATH, USER, model, say, tool


def test_without_a_rule_the_error_names_case_turn_and_nearest_rule(tmp_path: Path) -> None:
    rules = [say("x", case="one", lastTool="lookup", turn=9), say("y", case="one", text="policy")]
    one = model(tmp_path, *rules, tools=[tool("lookup")])
    status, body = one.read("POST", PATH, {"messages": [USER]})
    assert status == 422
    assert (body["case"], body["turn"], body["nearestRule"]) == ("one", 1, "model:support#1")
    assert body["misses"] == ["text 'policy' is not found in the last message"]
    assert body["error"] == {
        "message": body["detail"],
        "type": "invalid_request_error",
        "param": "messages",
        "code": "no_rule",
    }
    closed = one.close()
    assert closed.model_error == body["detail"]
    assert closed.model_error == (
        "no rule of the scripted model support answers case one, turn 1; the nearest is rules/1: "
        "text 'policy' is not found in the last message"
    )
    assert closed.served[0].row.route is None


def test_of_two_rules_that_miss_as_much_the_nearest_is_the_one_of_which_more_holds(tmp_path: Path) -> None:
    rules = [say("x", case="two"), say("y", case="one", text="policy"), say("z", case="one", prompt="polite", turn=2)]
    one = model(tmp_path, *rules, cases=[case("one"), case("two")])
    status, body = one.read("POST", PATH, {"messages": [USER]})
    assert (status, body["nearestRule"]) == (422, "model:support#2")
    assert body["misses"] == ["turn is 1, expected 2"]


def test_a_missing_rule_is_told_in_few_words_however_much_was_sent(tmp_path: Path) -> None:
    one = model(tmp_path, say("x", lastTool="lookup"), tools=[tool("lookup")])
    talk = [USER, {"role": "tool", "name": "n" * 100_000, "content": "c" * 100_000}]
    one.ask("POST", PATH, {"messages": talk})
    assert len(one.close().model_error or "") < 500


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (429, "requests", "rate_limit_exceeded"),
        (500, "server_error", None),
        (503, "server_error", None),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_planned_errors_are_json_with_their_status_and_headers_also_where_a_stream_was_asked_for(
    tmp_path: Path, status: int, kind: str, code: str | None, stream: bool
) -> None:
    one = model(tmp_path, {"reply": {"error": {"status": status, "headers": {"Retry-After": "2"}}}})
    answer = one.ask("POST", PATH, {"messages": [USER], "stream": stream}).answer
    assert answer.status == status
    assert (answer.headers["retry-after"], answer.headers["content-type"]) == ("2", "application/json")
    error = {"message": f"planned error {status}", "type": kind, "param": None, "code": code}
    assert json.loads(answer.body) == {"error": error}
    closed = one.close()
    assert closed.model_error is None
    assert closed.served[0].row.route == "model:support#0"


BAD_REQUESTS: list[tuple[Any, str, str]] = [
    ({}, "messages", "at least one message"),
    ([], "messages", "at least one message"),
    ({"messages": []}, "messages", "at least one message"),
    ({"messages": "hi"}, "messages", "at least one message"),
    ({"messages": ["hi"]}, "messages[0]", "expected an object"),
    ({"messages": [USER, {"content": "hi"}]}, "messages[1].role", "expected one of system, developer, user"),
    ({"messages": [{"role": "human"}]}, "messages[0].role", "found 'human'"),
    ({"messages": [USER], "stream": "yes"}, "stream", "true or false"),
    ({"messages": [USER], "stream": True, "stream_options": {"include_usage": 1}}, "include_usage", "true or false"),
    ({"messages": [USER], "stream_options": {"include_usage": True}}, "stream_options", "together with stream"),
    ({"messages": [USER], "stream": True, "stream_options": [1]}, "stream_options", "expected an object"),
    ({"messages": [USER], "n": 0}, "n", "one choice"),
    ({"messages": [USER], "n": "2"}, "n", "one choice"),
]


@pytest.mark.parametrize(("body", "param", "words"), BAD_REQUESTS)
def test_a_bad_request_is_told_to_people_and_to_clients_and_is_the_agents_fault(
    tmp_path: Path, body: Any, param: str, words: str
) -> None:
    one = model(tmp_path, say("x"))
    status, said = one.read("POST", PATH, body)
    assert status == 400
    assert words in said["detail"]
    expected = {"message": said["detail"], "type": "invalid_request_error", "param": param, "code": None}
    assert said["error"] == expected
    closed = one.close()
    assert closed.model_error is None
    assert closed.served[0].row.route is None


def test_a_body_that_is_no_json_is_a_bad_request(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    assert one.ask("POST", PATH, body=b"{", content_type="application/json").answer.status == 400
    assert one.ask("POST", PATH, body=b'{"messages": []}').answer.status == 400
    assert one.close().model_error is None


def test_more_than_one_choice_is_refused_by_name_and_is_not_the_agents_fault(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    status, body = one.read("POST", PATH, {"messages": [USER], "n": 2})
    assert status == 400
    assert body["error"]["param"] == "n"
    assert one.close().model_error == body["detail"] == "n: the scripted model makes one choice"


def test_another_model_is_not_there(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    status, body = one.read("GET", "/v1/models/gpt-5")
    assert status == 404
    assert body["error"] == {
        "message": "The model 'gpt-5' does not exist; this attempt's model is 'scripted/support'.",
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
    }
    assert one.close().served[0].unmatched is None


@pytest.mark.parametrize(("method", "path"), [("POST", PATH), ("GET", "/v1/models"), ("GET", "/v1/models/a")])
def test_an_attempt_without_a_scripted_model_says_so_in_openais_form_and_the_request_is_unmatched(
    tmp_path: Path, method: str, path: str
) -> None:
    takes_all = {"id": "any", "method": "GET", "path": "/{a}/{b}", "responses": [{"text": "x"}]}
    one = open_attempt(tmp_path, routes=[takes_all])
    status, body = one.read(method, path, {"messages": [USER]})
    assert (status, body["status"], body["case"]) == (404, 404, "one")
    assert body["detail"].startswith(
        f"This attempt of case one has no scripted model, so nothing answers {method} {path}"
    )
    assert "--model scripted/NAME" in body["detail"]
    assert body["error"] == {
        "message": body["detail"],
        "type": "invalid_request_error",
        "param": "model",
        "code": "no_scripted_model",
    }
    assert one.ask("HEAD", "/v1/models").answer.body == b""
    closed = one.close()
    assert closed.model_error is None
    assert [(served.row.route, served.row.status) for served in closed.served] == [(None, 404)] * 2
    assert closed.served[0].unmatched == UnmatchedRequest(method=method, path=path)


def test_a_request_without_a_scripted_model_counts_for_the_limits_as_any_unmatched_one(tmp_path: Path) -> None:
    one = open_attempt(tmp_path, opening={"request_limit": 1, "tool_call_limit": 0, "model_call_limit": 0})
    assert [one.read("POST", PATH, {"messages": [USER]})[0] for _ in range(2)] == [404, 429]


def test_an_expression_that_re2_refuses_is_refused_with_its_words() -> None:
    with pytest.raises(ValueError, match=r"RE2"):
        compile_pattern(r"(?=a)")


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [USER, {"role": "system", "content": 5}]}, "messages[1].content"),
        ({"messages": [{"role": "tool", "tool_call_id": "c", "content": {}}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"n": True}, "n"),
    ],
)
def test_a_malformed_message_is_a_bad_request_and_no_error_of_the_suite(
    tmp_path: Path, change: dict[str, Any], param: str
) -> None:
    one = model(tmp_path, say("x"))
    status, body = one.read("POST", PATH, {"messages": [USER], **change})
    assert (status, body["error"]["param"], body["error"]["type"]) == (400, param, "invalid_request_error")
    assert one.close().model_error is None


def test_an_assistant_that_called_a_tool_may_have_said_nothing_and_parts_may_be_pictures(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    call = {"id": "c", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    parts = [{"type": "text", "text": ""}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    talk = [{"role": "user", "content": parts}, {"role": "assistant", "tool_calls": [call]}]
    talk.append({"role": "tool", "tool_call_id": "c", "content": ""})
    assert one.read("POST", PATH, {"messages": talk})[0] == 200
