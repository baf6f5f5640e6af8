"""The chunks of a streamed answer: the same reply as in one piece, taken apart the same way each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fixture_api.journal import Ending
from tests.fakes.open_world import OpenAttempt, open_attempt

PATH = "/v1/chat/completions"
TALK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
STREAM = {**TALK, "stream": True}
WITH_USAGE = {**STREAM, "stream_options": {"include_usage": True}}
TEXTS = ["hello", "hello there", " two  spaces\n\nand lines ", "", "  ", "é 漢字 \u2028 \x85 \U0001f600 x", "a" * 3000]
CALLS = [{"name": "lookup", "arguments": {"id": "order-1", "é": [1, 2.5, None]}}, {"name": "policy"}]


def model(folder: Path, **reply: Any) -> OpenAttempt:
    return open_attempt(folder, rules=[{"reply": reply}], opening={"model": "scripted/support"})


def events(body: bytes) -> list[str]:
    assert body.endswith(b"\n\n")
    lines = body.decode("ascii")[:-2].split("\n\n")
    assert all(line.startswith("data: ") and "\n" not in line for line in lines)
    return [line.removeprefix("data: ") for line in lines]


def chunks(one: OpenAttempt, request: dict[str, Any] = STREAM) -> list[Any]:
    answer = one.ask("POST", PATH, request).answer
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert int(answer.headers["content-length"]) == len(answer.body)
    *read, done = events(answer.body)
    assert done == "[DONE]"
    return [json.loads(chunk) for chunk in read]


def deltas(read: list[Any]) -> list[Any]:
    return [chunk["choices"][0]["delta"] for chunk in read]


@pytest.mark.parametrize("text", TEXTS)
def test_the_words_of_a_text_come_one_by_one_and_add_up(tmp_path: Path, text: str) -> None:
    one = model(tmp_path, text=text)
    first, *words, last = deltas(chunks(one))
    assert first == {"role": "assistant", "content": "", "refusal": None}
    assert last == {}
    assert "".join(delta["content"] for delta in words) == text
    assert all(delta["content"].strip().split() == delta["content"].split() for delta in words)


def test_words_keep_the_space_before_them(tmp_path: Path) -> None:
    _, *words, _ = deltas(chunks(model(tmp_path, text="To be  or not\n")))
    assert [delta["content"] for delta in words] == ["To", " be", "  or", " not", "\n"]


def test_every_chunk_is_of_the_answer_that_is_sent_in_one_piece(tmp_path: Path) -> None:
    one = model(tmp_path, text="hello there")
    _, whole = one.read("POST", PATH, TALK)
    read = chunks(one)
    assert [chunk["choices"][0]["finish_reason"] for chunk in read] == [None, None, None, "stop"]
    same = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    for chunk in read:
        (choice,) = chunk.pop("choices")
        assert chunk == same
        assert (choice["index"], choice["logprobs"]) == (0, None)


def test_parallel_calls_begin_with_their_names_and_their_arguments_come_in_pieces(tmp_path: Path) -> None:
    one = model(tmp_path, toolCalls=CALLS)
    _, whole = one.read("POST", PATH, TALK)
    read = chunks(one)
    first, *calls, last = deltas(read)
    assert first == {"role": "assistant", "content": None, "refusal": None}
    assert last == {}
    assert read[-1]["choices"][0]["finish_reason"] == "tool_calls"
    pieces = [delta["tool_calls"][0]["function"]["arguments"] for delta in calls]
    assert pieces[-3:] == ["", "{", "}"]
    assert max(map(len, pieces)) == 16
    put_together: dict[int, Any] = {}
    for delta in calls:
        (call,) = delta["tool_calls"]
        index = call.pop("index")
        if index in put_together:
            assert call.keys() == {"function"}
            assert call["function"].keys() == {"arguments"}
            put_together[index]["function"]["arguments"] += call["function"]["arguments"]
        else:
            assert call["function"]["arguments"] == ""
            put_together[index] = call
    assert list(put_together) == [0, 1]
    assert list(put_together.values()) == whole["choices"][0]["message"]["tool_calls"]


def test_text_comes_before_the_calls_of_the_same_reply(tmp_path: Path) -> None:
    first, *rest, _ = deltas(chunks(model(tmp_path, text="Let me see.", toolCalls=CALLS)))
    assert first["content"] == ""
    assert ["content" in delta for delta in rest] == [True] * 3 + [False] * (len(rest) - 3)


def test_usage_comes_last_where_it_is_asked_for(tmp_path: Path) -> None:
    one = model(tmp_path, text="hello", usage={"inputTokens": 3, "outputTokens": 2})
    *read, last = chunks(one, WITH_USAGE)
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    assert all(chunk["usage"] is None for chunk in read)
    assert all("usage" not in chunk for chunk in chunks(one))
    assert all("usage" not in chunk for chunk in chunks(one, {**STREAM, "stream_options": {}}))


def test_usage_that_the_rule_does_not_name_is_not_invented_and_zeros_can_be_named(tmp_path: Path) -> None:
    silent = chunks(model(tmp_path / "a", text="hello"), WITH_USAGE)
    assert [chunk["usage"] for chunk in silent] == [None] * 3
    assert all(chunk["choices"] for chunk in silent)
    zeros = chunks(model(tmp_path / "b", text="hello", usage={}), WITH_USAGE)
    assert zeros[-1]["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def test_equal_requests_get_equal_bytes(tmp_path: Path) -> None:
    answers = [model(tmp_path / name, text="a b", toolCalls=CALLS).ask("POST", PATH, STREAM).answer for name in "ab"]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("reply", "sent"),
    [({"text": text}, None) for text in TEXTS] + [({"toolCalls": CALLS}, None), ({"text": "one two three"}, 3)],
)
def test_a_planned_cut_ends_a_stream_between_two_chunks_and_before_the_last(
    tmp_path: Path, reply: dict[str, Any], sent: int | None
) -> None:
    whole = model(tmp_path / "whole", **reply).ask("POST", PATH, WITH_USAGE).answer
    one = model(tmp_path, **reply, usage={}, cut=True)
    decision = one.ask("POST", PATH, WITH_USAGE)
    assert decision.ending is Ending.CUT
    assert whole.body.startswith(decision.answer.body)
    read = [json.loads(event) for event in events(decision.answer.body)]
    assert read[0]["choices"][0]["delta"]["role"] == "assistant"
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in read)
    assert sent in (None, len(read))
    (served,) = one.close().served
    assert served.row.response_digest == decision.answer.digest != whole.digest
