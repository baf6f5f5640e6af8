"""Which rule of the scripted model answers, and with what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixture_api.journal import Ending
from fixture_api.patterns import compile_pattern
from tests.fakes.open_world import case
from tests.fakes.scripted_talk import PATH, USER, assistant, model, result, say, text_of, tool


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
    assert text_of(one, assistant(content=None)) == "not"


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


def test_no_text_of_an_agent_can_hang_a_rule() -> None:
    pattern = compile_pattern("(a+)+$")
    assert not pattern.is_found_in("a" * 50_000 + "b")
