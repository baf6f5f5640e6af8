"""An agent's standard output: what is an event, what is log, and what breaks the protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runner.agents.event_lines import EventLines
from runner.agents.output_lines import WholeLines


def read(*lines: Any) -> EventLines:
    found = EventLines(hide=lambda text: text.replace("topsecret", "<prefix>"))
    for line in lines:
        found.feed((line if isinstance(line, str) else json.dumps(line)) + "\n")
    found.finish()
    return found


def test_messages_are_the_texts_in_order() -> None:
    assert read({"type": "message", "text": "a"}, {"type": "message", "text": ""}).texts == ["a", ""]


def test_lines_may_come_in_pieces_of_any_size_and_the_last_needs_no_newline() -> None:
    found = EventLines(hide=lambda text: text.replace("topsecret", "<prefix>"))
    for character in '{"type":"message","text":"one"}\n{"type":"message","text":"two"}':
        found.feed(character)
    found.finish()

    assert found.texts == ["one", "two"]


def test_a_carriage_return_before_the_newline_is_no_part_of_the_event() -> None:
    assert read('{"type": "message", "text": "a"}\r').texts == ["a"]


@pytest.mark.parametrize(
    "line",
    [
        "plain text",
        "{broken",
        "[1, 2]",
        '"message"',
        '{"type": "thought", "text": "x"}',
        '{"no": "type"}',
        '{"type": 7}',
        '{"type": "thought", "text": NaN}',
        '{"a":' * 2000 + "1" + "}" * 2000,
    ],
)
def test_everything_else_is_log_and_breaks_nothing(line: str) -> None:
    found = read(line)

    assert found.broken is None
    assert found.log.text() == line + "\n"


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "tool_call", "name": "shell", "arguments": {"x": NaN}}',
        '{"type": "error", "message": "broke", "loss": 1e999}',
        '{"arguments": {"type": "object"}, "type": "tool_call", "name": "shell", "x": -Infinity}',
        '{"type": "usage", "inputTokens": 1, "outputTokens": 1, "costUsd": 1e400}',
        '{"type": "tool_call", "name": "shell", "arguments": {"x": ' + "9" * 6000 + "}}",
        '{"type": "tool_call", "name": "shell", "arguments": ' + '{"a":' * 3000 + "1" + "}" * 3001,
        '{"type": "tool_call", "name": "shell", "name": "other", "arguments": {}}',
        '\ufeff{"type": "tool_call", "name": "shell", "arguments": {}}',
        '{"type": "tool_call", "name": "she',
    ],
    ids=lambda line: line[:40],
)
def test_what_says_it_is_an_event_and_cannot_be_read_breaks_the_protocol_and_hides_nothing(line: str) -> None:
    found = read('{"type": "message", "text": "a"}', line)
    assert found.broken is not None
    assert found.broken.startswith("output line 2: ")
    assert "shell" not in found.broken
    assert found.log.text() == line + "\n"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message"},
        {"type": "message", "text": 7},
        {"type": "tool_call", "arguments": {}},
        {"type": "tool_call", "name": "x"},
        {"type": "tool_call", "name": "x", "arguments": "{}"},
        {"type": "tool_call", "name": "x", "arguments": {}, "status": True},
        {"type": "tool_call", "name": "x" * 201, "arguments": {}},
        {"type": "usage", "inputTokens": 1},
        {"type": "usage", "inputTokens": 1.5, "outputTokens": 1},
        {"type": "usage", "inputTokens": -1, "outputTokens": 1},
        {"type": "usage", "inputTokens": True, "outputTokens": 1},
        {"type": "usage", "inputTokens": 1, "outputTokens": 1, "costUsd": "1"},
        {"type": "error"},
        {"type": "error", "message": "x", "class": "weather"},
    ],
)
def test_a_known_type_with_malformed_fields_breaks_the_protocol(event: dict[str, Any]) -> None:
    found = read("log", event)

    assert str(found.broken).startswith(f"output line 2: {event['type']}, ")


def test_the_first_broken_line_is_named_and_quotes_nothing() -> None:
    found = read({"type": "message", "text": ["private"]}, {"type": "error"})

    assert found.broken == "output line 1: message, no text in `text`"


def test_more_keys_than_known_break_nothing() -> None:
    assert read({"type": "message", "text": "a", "mood": "good"}).texts == ["a"]


def test_tool_calls_keep_name_arguments_and_status() -> None:
    found = read(
        {"type": "tool_call", "name": "pay", "arguments": {"n": 2**60}, "status": "denied"},
        {"type": "tool_call", "name": "ask", "arguments": {}},
        {"type": "tool_call", "name": "ask", "arguments": {}, "status": 200},
    )

    assert [(call.tool, call.arguments, call.status) for call in found.calls] == [
        ("pay", {"n": 2**60}, "denied"),
        ("ask", {}, None),
        ("ask", {}, 200),
    ]


def test_usage_is_summed_and_an_absent_cost_is_no_zero() -> None:
    tokens = {"type": "usage", "inputTokens": 10, "outputTokens": 1}

    assert read(tokens, tokens).usage.to_json() == {"inputTokens": 20, "outputTokens": 2}
    assert read(tokens, {**tokens, "costUsd": 0.5}).usage.cost_usd == 0.5
    assert read().usage.to_json() == {}


def test_errors_keep_their_class_and_leave_their_message_in_the_log() -> None:
    found = read({"type": "error", "message": "no key", "class": "provider"}, {"type": "error", "message": "oops"})

    assert found.errors == ["provider", None]
    assert found.log.text() == "error: no key\nerror: oops\n"


def test_the_secret_is_hidden_in_texts_arguments_and_log() -> None:
    found = read(
        {"type": "message", "text": "at topsecret"},
        {"type": "tool_call", "name": "x", "arguments": {"url": "http://h/~topsecret/y"}},
        "log topsecret",
    )

    assert found.texts == ["at <prefix>"]
    assert found.calls[0].arguments == {"url": "http://h/~<prefix>/y"}
    assert found.log.text() == "log <prefix>\n"


def test_lone_surrogates_become_question_marks() -> None:
    assert read('{"type": "message", "text": "x\\ud800y"}').texts == ["x?y"]


def test_standard_output_never_gets_into_a_line_of_standard_error() -> None:
    found = EventLines(hide=str)
    found.feed_stderr("first\nconnecting with 12345")
    found.feed("progress 10%\n")
    found.feed_stderr("6 ok\n")
    found.finish()

    assert found.log.text() == "first\nprogress 10%\nconnecting with 123456 ok\n"


def test_an_unfinished_line_of_a_stream_that_ends_is_kept_and_ended() -> None:
    found = EventLines(hide=str)
    found.feed_stderr("connecting with 12345")
    found.feed("progress")
    found.finish()
    found.finish()

    assert found.log.text() == "progress\nconnecting with 12345\n"


def test_a_line_of_standard_error_without_end_waits_in_bounded_memory_and_is_ended() -> None:
    taken: list[str] = []
    lines = WholeLines(taken.append, longest=10)
    for character in "abcdefghijklmno\npq":
        lines.feed(character)
    lines.finish()

    assert taken == ["abcdefghijk\n", "lmno\n", "pq\n"]
