"""What the scripted model says, and when it says that it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fixture_api.journal import Ending
from fixture_api.patterns import compile_pattern
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
    rules = [say("case", case="two"), say("turn", turn=2), say("first")]
    one = model(tmp_path, *rules, cases=[case("one"), case("two")])
    assert text_of(one, USER) == "first"
    assert text_of(one, USER, assistant(content="x"), USER) == "turn"
    both = model(tmp_path / "both", say("turn", turn=1), say("prompt", prompt="polite"), say("any"))
    assert text_of(both, USER) == "turn"
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


def test_what_real_clients_send_beside_the_messages_changes_nothing(tmp_path: Path) -> None:
    one = model(tmp_path, say("found", text="order 7"))
    talk = [
        {"role": "developer", "content": "Be brief."},
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "name": "ann", "content": [{"type": "text", "text": "order 7"}]},
    ]
    beside = {
        "model": "gpt-5",
        "tools": [{"type": "function", "function": {"name": "a", "parameters": {}, "strict": True}}],
        "tool_choice": {"type": "function", "function": {"name": "a"}},
        "parallel_tool_calls": False,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
        "max_completion_tokens": 5,
        "max_tokens": None,
        "temperature": 0.5,
        "seed": 3,
        "n": 1,
        "stop": ["x"],
        "stream": None,
        "stream_options": None,
        "user": "u",
        "metadata": {"a": "b"},
        "store": False,
        "reasoning_effort": "low",
    }
    plain = one.ask("POST", PATH, {"messages": talk}).answer
    assert plain.status == 200
    assert one.ask("POST", PATH, {"messages": talk, **beside}).answer == plain


def test_a_planned_cut_sends_half_the_body_and_closes(tmp_path: Path) -> None:
    whole = model(tmp_path / "whole", say("hello")).ask("POST", PATH, {"messages": [USER]}).answer
    one = model(tmp_path, {"reply": {"text": "hello", "cut": True}})
    decision = one.ask("POST", PATH, {"messages": [USER]})
    assert decision.ending is Ending.CUT
    assert decision.answer.length == whole.length
    assert decision.answer.body == whole.body[: len(whole.body) // 2]
    assert decision.answer.digest != whole.digest
    (served,) = one.close().served
    assert (served.row.status, served.row.route) == (200, "model:support#0")
    assert (served.row.response_digest, served.response_text) == (
        decision.answer.digest,
        decision.answer.body.decode(),
    )


def test_the_model_is_listed_and_found_by_its_id(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    listed = {"id": "scripted/support", "object": "model", "created": 1788264000, "owned_by": "labctl"}
    assert one.read("GET", "/v1/models") == (200, {"object": "list", "data": [listed]})
    assert one.read("GET", "/v1/models/scripted/support") == (200, listed)
    assert one.read("GET", "/v1/models/scripted%2Fsupport") == (200, listed)
    served = one.close().served
    assert {(row.row.route, row.row.via) for row in served} == {("model:support", "model")}


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


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/scripted/support", "/v1/models/none"])
def test_head_has_the_headers_of_get_and_no_body(tmp_path: Path, path: str) -> None:
    one = model(tmp_path, say("x"))
    get, head = one.ask("GET", path).answer, one.ask("HEAD", path).answer
    assert (head.head, head.length, head.body) == (get.head, get.length, b"")


def test_options_says_what_can_be_asked(tmp_path: Path) -> None:
    one = model(tmp_path, say("x"))
    allowed = [one.ask("OPTIONS", path).answer.headers["allow"] for path in (PATH, "/v1/models", "/v1/models/a")]
    assert allowed == ["OPTIONS, POST", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"]


def test_model_requests_are_in_the_journal_as_such(tmp_path: Path) -> None:
    one = model(tmp_path, say("never", turn=5), say("x"))
    text_of(one, USER)
    (served,) = one.close().served
    assert (served.row.route, served.row.via, served.row.tool) == ("model:support#1", "model", None)


def test_an_attempt_without_a_model_serves_none(tmp_path: Path) -> None:
    one = open_attempt(tmp_path)
    assert one.read("POST", PATH, {"messages": [USER]})[0] == 404
    assert one.close().served[0].unmatched is not None


def test_no_text_of_an_agent_can_hang_a_rule() -> None:
    pattern = compile_pattern("(a+)+$")
    assert not pattern.is_found_in("a" * 50_000 + "b")


def test_an_expression_that_re2_refuses_is_refused_with_its_words() -> None:
    with pytest.raises(ValueError, match=r"RE2"):
        compile_pattern(r"(?=a)")
