"""What the reader makes of docker-agent's event streams: text, calls, refusals, money, errors."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from runner.agents.docker_agent_events import DockerAgentEvents
from runner.agents.interface import EndKind, ToolEvent
from tests.fakes.docker_agent_streams import (
    MAIN,
    TRANSFER,
    Event,
    answers,
    asks,
    begins,
    called,
    ends,
    event,
    refused,
    runs,
    says,
    spends,
    text_of,
)

SECRET = "0123456789abcdef"


def read(*events: Event, stderr: str = "", size: int = 100_000, extra: str = "") -> DockerAgentEvents:
    reader = DockerAgentEvents(hide=lambda line: line.replace(SECRET, "<hidden>"))
    text = text_of(events) + extra
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    reader.feed_stderr(stderr)
    reader.finish()
    return reader


def kind_of(reader: DockerAgentEvents, *, exit_code: int | None, trusts_provider: bool = True) -> EndKind | None:
    failure = reader.failure(exit_code=exit_code, trusts_provider=trusts_provider)
    return failure.kind if failure else None


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_text_is_all_pieces_joined_by_nothing_whatever_the_pieces_of_output(size: int) -> None:
    reader = read(*begins("hi"), *says("hel", "lo"), *ends(), *begins("again"), *says("wor", "ld"), *ends(), size=size)

    assert reader.texts == ("helloworld",)
    assert reader.log.text() is None


def test_an_agent_that_says_nothing_has_no_text() -> None:
    assert read(*begins("hi"), *ends()).texts == ()


def test_a_call_that_ran_has_its_arguments_as_json_and_its_answer() -> None:
    reader = read(*called("list_directory", {"path": "./"}, answer="FILE a"))

    assert list(reader.calls) == [ToolEvent(tool="list_directory", arguments={"path": "./"}, result="FILE a")]


@pytest.mark.parametrize(("written", "arguments"), [("", {}), ("{", None), ("[1]", None), ('{"a": 1}', {"a": 1})])
def test_arguments_that_are_no_object_cannot_be_read(written: str, arguments: Any) -> None:
    assert read(runs("t", written)).calls[0].arguments == arguments


def test_a_response_without_a_call_is_a_call_of_a_tool_that_does_not_exist_and_counts() -> None:
    answer = "Tool 'nope' is not available. You can only use the tools provided to you."
    reader = read(asks("nope", {"a": 1}), answers("nope", answer, is_error=True))

    assert list(reader.calls) == [ToolEvent(tool="nope", arguments={"a": 1}, status="no-such-tool", result=answer)]


@pytest.mark.parametrize(
    "answer",
    [
        "Tool 'shell' is denied by permissions configuration.",
        "Tool 'shell' requires user confirmation but the session is non-interactive.",
        "The user rejected the tool call.",
        "The user rejected the tool call. Reason: no",
        "The tool call was rejected by a pre_tool_use hook. Reason: no",
        "The tool call was rejected by a permission_request hook.",
        "Tool call blocked by hook: no",
    ],
)
def test_a_call_that_a_policy_refused_is_denied(answer: str) -> None:
    (call,) = read(*refused("shell", {"cmd": "rm"}, answer=answer)).calls

    assert (call.tool, call.status, call.arguments) == ("shell", "denied", {"cmd": "rm"})


@pytest.mark.parametrize("kind", ["tool_call_confirmation", "hook_blocked"])
def test_a_call_that_nobody_confirmed_or_that_a_hook_blocked_is_denied_whatever_its_answer_reads_like(
    kind: str,
) -> None:
    (call,) = read(asks("shell", {"cmd": "rm"}, kind=kind), answers("shell", "[redacted]", is_error=True)).calls

    assert (call.status, call.arguments) == ("denied", {"cmd": "rm"})


def test_a_confirmed_call_ran() -> None:
    reader = read(asks("shell", kind="tool_call_confirmation"), runs("shell"), answers("shell", "ok"))

    assert [call.status for call in reader.calls] == [None]


@pytest.mark.parametrize("answer", ["The user rejected the tool call.", "Tool 'shell' is denied by x."])
def test_a_call_that_ran_is_never_denied_by_what_its_own_answer_says(answer: str) -> None:
    assert read(runs("shell"), answers("shell", answer)).calls[0].status is None
    assert read(runs("shell"), answers("shell", answer, is_error=True)).calls[0].status == "error"


def test_a_tool_cannot_be_named_so_that_its_absence_reads_like_a_refusal() -> None:
    name = "x' is denied by y"
    answer = f"Tool '{name}' is not available. You can only use the tools provided to you."

    assert read(answers(name, answer, is_error=True)).calls[0].status == "no-such-tool"


@pytest.mark.parametrize(
    ("answer", "status"), [("The tool call was canceled by the user.", "canceled"), ("who knows", "error")]
)
def test_other_responses_without_a_call_are_no_refusals(answer: str, status: str) -> None:
    assert read(answers("t", answer, is_error=True)).calls[0].status == status


def test_arguments_in_pieces_are_joined_and_repeated_ones_are_not() -> None:
    pieces = [
        asks("t", '{"a"'),
        event("partial_tool_call", tool_call={"id": "call_1", "function": {"arguments": ":1}"}}),
    ]
    joined = read(*pieces, answers("t", "Tool 't' is denied by x.", is_error=True))
    whole = read(asks("t", '{"a"'), asks("t", '{"a":1}'), answers("t", "Tool 't' is denied by x.", is_error=True))

    assert joined.calls[0].arguments == whole.calls[0].arguments == {"a": 1}


def test_an_id_that_the_model_uses_twice_is_two_calls() -> None:
    reader = read(*called("a", answer="1"), *called("b", answer="2"), runs("c"), runs("d"), answers("c", "3"))

    assert [(call.tool, call.result) for call in reader.calls] == [("a", "1"), ("b", "2"), ("c", "3"), ("d", None)]


def test_cost_is_the_sum_of_each_sessions_last_one() -> None:
    reader = read(*TRANSFER)

    assert reader.usage.cost_usd == 1.75
    assert reader.texts == ("It is blue. So: blue.",)
    assert [(call.tool, call.result) for call in reader.calls] == [
        ("transfer_task", "It is blue."),
        ("read_file", "ok"),
    ]


def test_tokens_are_those_of_all_messages_because_a_session_counts_its_last_request_only() -> None:
    reader = read(*spends(0.1, tokens=(10, 2)), *spends(0.2, tokens=(30, 5)))

    assert (reader.usage.input_tokens, reader.usage.output_tokens, reader.usage.model_calls) == (40, 7, 2)


def test_without_messages_tokens_are_each_sessions_last_counters() -> None:
    usage = {"input_tokens": 5, "output_tokens": 1, "cost": 0.5}
    reader = read(event("token_usage", session_id=MAIN, usage=usage), event("token_usage", session_id="o", usage=usage))

    assert reader.usage.to_json() == {"inputTokens": 10, "outputTokens": 2, "costUsd": 1.0}


def test_counters_that_are_no_numbers_are_not_counted() -> None:
    for cost in (True, "1", -1, None, 1e300, 10**400):
        assert read(event("token_usage", session_id=MAIN, usage={"cost": cost})).usage.cost_usd is None
    assert read(event("token_usage", session_id=MAIN)).usage.cost_usd is None


def test_nothing_measured_is_no_zero() -> None:
    assert read(*begins("x"), *says("y")).usage.to_json() == {}


def test_unknown_events_and_lines_that_are_no_json_are_the_log_without_the_secret() -> None:
    reader = read(event("brand_new", note=SECRET), *says("hi"), extra=f"not json {SECRET}\n[1]\n{{\n")

    log = reader.log.text() or ""
    assert [line for line in log.splitlines() if "brand_new" not in line] == ["not json <hidden>", "[1]", "{"]
    assert '"note": "<hidden>"' in json.dumps(json.loads(log.splitlines()[0]))
    assert reader.texts == ("hi",)


def test_standard_error_is_log_line_by_line() -> None:
    assert read(stderr=f"\nWelcome {SECRET}\nlast").log.text() == "\nWelcome <hidden>\nlast\n"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (event("tool_call"), "tool_call, no call in `tool_call`"),
        (runs(""), "tool_call, no name of a tool"),
        (runs("n" * 201), "tool_call, its name is too long"),
        (event("tool_call_response", response="x"), "tool_call_response, no text in `tool_call_id`"),
        (answers("", "x"), "tool_call_response, no name of a tool"),
        (event("agent_choice", content=1), "agent_choice, no text in `content`"),
    ],
)
def test_a_known_event_without_what_its_type_needs_breaks_the_protocol(broken: Event, why: str) -> None:
    failure = read(*says("x"), broken).failure(exit_code=0, trusts_provider=True)

    assert failure is not None
    assert (failure.kind, failure.reason) == (EndKind.AGENT_ERROR, f"protocol broken, output line 2: {why}")


def test_a_stream_without_any_event_breaks_the_protocol_when_it_ends_well() -> None:
    assert kind_of(read(extra="Usage: docker-agent\n"), exit_code=0) is EndKind.AGENT_ERROR
    assert kind_of(read(extra="Usage: docker-agent\n"), exit_code=1) is None  # the exit status says enough
    assert kind_of(read(*begins("x")), exit_code=0) is None


FAILED = "Error: model failed: error receiving from stream: HTTP 429: slow down\n"


def test_a_provider_failure_needs_a_bad_exit_status_and_a_model_outside() -> None:
    assert kind_of(read(*says("x"), stderr=FAILED), exit_code=1) is EndKind.PROVIDER
    assert kind_of(read(*says("x"), stderr=FAILED), exit_code=0) is None
    assert kind_of(read(*says("x"), stderr=FAILED), exit_code=1, trusts_provider=False) is None
    assert kind_of(read(*says("x"), stderr=FAILED), exit_code=None) is None  # killed


def test_the_last_error_is_what_ended_it() -> None:
    assert kind_of(read(*says("x"), stderr=FAILED + "Error: no such file\n"), exit_code=1) is None
    assert kind_of(read(*says("x"), stderr="Error: no such file\n" + FAILED), exit_code=1) is EndKind.PROVIDER


def test_an_error_event_of_a_later_version_says_the_same_as_standard_error() -> None:
    slow = event("error", error="model failed: HTTP 429: slow down", code="rate_limited")
    mine = event("error", error="loop detected")

    assert kind_of(read(slow, stderr=FAILED), exit_code=1) is EndKind.PROVIDER
    assert kind_of(read(slow), exit_code=1, trusts_provider=False) is EndKind.AGENT_ERROR
    assert kind_of(read(slow, mine), exit_code=1) is EndKind.AGENT_ERROR
    assert kind_of(read(mine), exit_code=0) is EndKind.AGENT_ERROR
    assert read(mine).log.text() == "error: loop detected\n"


def test_what_each_event_says_of_a_session_is_added_up_without_a_look_at_all_the_others() -> None:
    """Their number is up to the agent, and its limits are looked at after each piece of its output."""

    class Unread(dict[str, Any]):
        def values(self) -> Any:
            raise AssertionError("every session was looked at")

    reader = DockerAgentEvents(hide=str, _sessions=Unread())
    costs = [0.1, 0.2, 0.3, 1e-9] * 50
    for number, cost in enumerate(costs):
        for told in (cost / 2, cost):
            usage = {"cost": told, "input_tokens": 3, "output_tokens": number % 2}
            line = {"type": "token_usage", "session_id": f"s{number}", "usage": usage}
            reader.feed(json.dumps(line) + "\n")

    assert reader.usage.cost_usd == math.fsum(costs)
    assert (reader.usage.input_tokens, reader.usage.output_tokens, reader.usage.model_calls) == (600, 100, None)


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "token_usage", "session_id": "s", "usage": {"cost": NaN}}',
        '{"type": "tool_call", "tool_call": {"function": {"name": "shell", "arguments": "{}"}}, "x": 1e999}',
    ],
)
def test_an_event_that_cannot_be_read_breaks_the_protocol(line: str) -> None:
    reader = DockerAgentEvents(hide=str)
    reader.feed(line + "\n")
    reader.finish()
    ending = reader.failure(exit_code=0, trusts_provider=True)
    assert ending is not None
    assert ending.kind is EndKind.AGENT_ERROR
    assert ending.reason is not None
    assert ending.reason.startswith("protocol broken, output line 1: ")
