"""What the scripted model says, and when it says that it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.open_world import OpenAttempt, case, open_attempt

PATH = "/v1/chat/completions"
USER = {"role": "user", "content": "Where is order 7?"}


def model(folder: Path, *rules: dict[str, Any], opening: dict[str, Any] | None = None, **files: Any) -> OpenAttempt:
    opening = {"model": "scripted/support", "prompt": "polite", **(opening or {})}
    return open_attempt(folder, rules=list(rules), opening=opening, **files)


def say(said: str, **when: Any) -> dict[str, Any]:
    return {"when": when, "reply": {"text": said}}


def text_of(one: OpenAttempt, *messages: dict[str, Any]) -> str | None:
    status, body = one.read("POST", PATH, {"messages": list(messages)})
    return body["choices"][0]["message"]["content"] if status == 200 else None


def assistant(*calls: str, content: str | None = None) -> dict[str, Any]:
    made = [{"id": f"id-{name}", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in calls]
    return {"role": "assistant", "content": content, **({"tool_calls": made} if made else {})}


def result(name: str, content: str = "{}") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"id-{name}", "content": content}


def tool(name: str) -> dict[str, Any]:
    function = {"name": name, "parameters": {}}
    return {"type": "function", "function": function, "http": {"method": "GET", "path": f"/{name}"}}


def test_a_text_reply_is_a_completion_without_anything_of_the_moment(tmp_path: Path) -> None:
    rule = {"reply": {"text": "hello", "usage": {"inputTokens": 3, "outputTokens": 2}}}
    one = model(tmp_path, rule)
    status, body = one.read("POST", PATH, {"messages": [USER]})
    assert status == 200
    assert body == {
        "id": body["id"],
        "object": "chat.completion",
        "created": 1788264000,
        "model": "scripted/support",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "hello", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    again = model(tmp_path / "again", rule, opening={"attempt": 9})
    assert again.read("POST", PATH, {"messages": [USER]})[1]["id"] == body["id"]


def test_ids_follow_case_prompt_and_turn(tmp_path: Path) -> None:
    rule = say("hello")
    ids = set()
    openings: list[dict[str, Any]] = [{}, {"prompt": None}, {"case": "two"}]
    for number, opening in enumerate(openings):
        one = model(tmp_path / str(number), rule, opening=opening, cases=[case("one"), case("two")])
        for messages in ([USER], [USER, assistant(content="x"), USER]):
            ids.add(one.read("POST", PATH, {"messages": messages})[1]["id"])
    assert len(ids) == 6


def test_without_usage_in_the_rule_none_is_invented(tmp_path: Path) -> None:
    assert "usage" not in model(tmp_path, say("x")).read("POST", PATH, {"messages": [USER]})[1]


def test_tool_calls_are_numbered_by_turn_and_have_compact_arguments(tmp_path: Path) -> None:
    calls = [{"name": "lookup", "arguments": {"id": "é", "n": 1}}, {"name": "policy"}]
    one = model(tmp_path, {"reply": {"toolCalls": calls}})
    _, body = one.read("POST", PATH, {"messages": [USER, assistant(content="x"), USER]})
    (choice,) = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [
            {"id": "call_2_0", "type": "function", "function": {"name": "lookup", "arguments": '{"id":"é","n":1}'}},
            {"id": "call_2_1", "type": "function", "function": {"name": "policy", "arguments": "{}"}},
        ],
    }


def test_the_first_rule_that_holds_answers(tmp_path: Path) -> None:
    rules = [say("case", case="two"), say("turn", turn=2), say("first"), say("second")]
    one = model(tmp_path, *rules, cases=[case("one"), case("two")])
    assert text_of(one, USER) == "first"
    assert text_of(one, USER, assistant(content="x"), USER) == "turn"
    polite = model(tmp_path / "polite", say("polite", prompt="polite"), say("any"))
    assert text_of(polite, USER) == "polite"
    other = model(tmp_path / "other", say("polite", prompt="polite"), say("any"), opening={"prompt": None})
    assert text_of(other, USER) == "any"
    two = model(tmp_path / "two", *rules, opening={"case": "two"}, cases=[case("one"), case("two")])
    assert text_of(two, USER) == "case"


def test_the_tool_whose_result_is_last_is_known_by_its_call(tmp_path: Path) -> None:
    rules = [say("policy", lastTool="policy"), say("lookup", lastTool="lookup"), say("none")]
    one = model(tmp_path, *rules, tools=[tool("policy"), tool("lookup")])
    assert text_of(one, USER, assistant("lookup", "policy"), result("lookup"), result("policy")) == "policy"
    assert text_of(one, USER, assistant("lookup", "policy"), result("policy"), result("lookup")) == "lookup"
    assert text_of(one, USER, assistant("lookup"), result("lookup"), USER) == "none"
    assert text_of(one, USER, {"role": "tool", "name": "lookup", "content": "x"}) == "lookup"
    assert text_of(one, USER, {"role": "tool", "tool_call_id": "never", "content": "x"}) == "none"


def test_the_text_is_searched_in_the_last_message_only(tmp_path: Path) -> None:
    one = model(tmp_path, say("found", text=r"order\s+\d"), say("not"))
    assert text_of(one, USER) == "found"
    assert text_of(one, USER, assistant(content="x"), {"role": "user", "content": "thanks"}) == "not"
    parts = [{"type": "text", "text": "ord"}, {"type": "image_url", "image_url": {"url": "x"}}, {"text": "er 7"}]
    assert text_of(one, {"role": "user", "content": parts}) == "found"
    assert text_of(one, {"role": "user", "content": None}) == "not"


def test_the_last_status_is_the_one_last_served_to_a_tool_call(tmp_path: Path) -> None:
    routes = [
        {"id": "a", "method": "GET", "path": "/a", "responses": [{"status": 503}, {"status": 200}]},
        {"id": "b", "method": "GET", "path": "/b", "responses": [{"status": 202}]},
    ]
    one = model(
        tmp_path,
        say("busy", lastStatus=503),
        say("fine", lastStatus=200),
        say("other"),
        routes=routes,
        tools=[tool("a")],
    )
    talk = (USER, assistant("a"), result("a"))
    assert text_of(one, *talk) == "other"
    one.ask("GET", "/a")
    assert text_of(one, *talk) == "busy"
    assert text_of(one, *talk, USER) == "other"
    one.ask("GET", "/b")
    assert text_of(one, *talk) == "busy"
    one.ask("GET", "/a")
    assert text_of(one, *talk) == "fine"


def test_without_a_rule_the_error_names_case_turn_and_nearest_rule(tmp_path: Path) -> None:
    rules = [say("x", case="one", lastTool="lookup", turn=9), say("y", case="one", text="policy")]
    one = model(tmp_path, *rules, tools=[tool("lookup")])
    status, body = one.read("POST", PATH, {"messages": [USER]})
    assert status == 500
    assert (body["case"], body["turn"], body["nearestRule"]) == ("one", 1, "model:support#1")
    closed = one.close()
    assert closed.model_error == body["detail"]
    assert closed.model_error == (
        "no rule of the scripted model support answers case one, turn 1; the nearest is rules/1: "
        "text 'policy' is not found in the last message"
    )
    assert closed.served[0].row.route is None


def test_planned_errors_have_their_status_and_headers(tmp_path: Path) -> None:
    one = model(tmp_path, {"reply": {"error": {"status": 429, "headers": {"Retry-After": "2"}}}})
    answer = one.ask("POST", PATH, {"messages": [USER]}).answer
    assert answer.status == 429
    assert answer.headers["retry-after"] == "2"
    assert json.loads(answer.body)["error"]["message"] == "planned error 429"
    closed = one.close()
    assert closed.model_error is None
    assert closed.served[0].row.route == "model:support#0"


def test_a_request_that_is_no_conversation_is_refused(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    bodies: list[Any] = [{}, {"messages": []}, {"messages": ["hi"]}, {"messages": "hi"}, []]
    for body in bodies:
        assert one.read("POST", PATH, body)[0] == 400
    assert one.ask("POST", PATH, body=b"{", content_type="application/json").answer.status == 400
    assert one.close().model_error is None


def test_more_than_one_choice_is_refused_by_name(tmp_path: Path) -> None:
    status, body = model(tmp_path, say("x")).read("POST", PATH, {"messages": [USER], "n": 2})
    assert status == 501
    assert body["detail"].startswith("n:")


def test_the_models_are_listed(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    status, body = one.read("GET", "/v1/models")
    assert status == 200
    assert [entry["id"] for entry in body["data"]] == ["scripted/support"]
    (served,) = one.close().served
    assert (served.row.route, served.row.via) == ("model:support", "model")


def test_model_requests_are_in_the_journal_as_such(tmp_path: Path) -> None:
    one = model(tmp_path, say("never", turn=5), say("x"))
    text_of(one, USER)
    (served,) = one.close().served
    assert (served.row.route, served.row.via, served.row.tool) == ("model:support#1", "model", None)


def test_an_attempt_without_a_model_serves_none(tmp_path: Path) -> None:
    one = open_attempt(tmp_path)
    assert one.read("POST", PATH, {"messages": [USER]})[0] == 404
    assert one.close().served[0].unmatched is not None
