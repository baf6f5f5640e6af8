"""The scripted model and the official `openai` client, over real HTTP."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.open_world import case
from tests.fakes.suite_folder import TOOL, SuiteFolder

MODEL = "scripted/support"
LOOKUP = {"name": "lookup_order", "arguments": {"order_id": "a-1", "reason": "wants the money back"}}
USAGE = {"inputTokens": 7, "outputTokens": 5}
RULES: list[dict[str, Any]] = [
    {"when": {"text": "^greet"}, "reply": {"text": "Hello, how are you?", "usage": USAGE}},
    {"when": {"text": "^silent"}, "reply": {"text": "no tokens told"}},
    {"when": {"text": "^both", "turn": 1}, "reply": {"toolCalls": [LOOKUP, {"name": "policy"}], "usage": USAGE}},
    {"when": {"text": "^order", "turn": 1}, "reply": {"text": "I look.", "toolCalls": [LOOKUP]}},
    {"when": {"lastTool": "lookup_order", "lastStatus": 200}, "reply": {"text": "It is 5 euro."}},
    {"when": {"text": "^busy"}, "reply": {"error": {"status": 429, "headers": {"Retry-After": "7"}}}},
    {"when": {"text": "^broken"}, "reply": {"error": {"status": 500}}},
    {"when": {"text": "^cut"}, "reply": {"text": "one two three four", "cut": True}},
]
NO_RULE = (
    "no rule of the scripted model support answers case one, turn 1; the nearest is rules/2: "
    "text '^both' is not found in the last message"
)


@dataclass(frozen=True)
class Lab:
    """An open attempt and a client of it that never tries again."""

    api: FixtureProcess
    prefix: str
    attempt: int
    client: openai.OpenAI

    def ask(self, text: str, **request: Any) -> Any:
        messages = [{"role": "user", "content": text}]
        return self.client.chat.completions.create(**{"model": MODEL, "messages": messages, **request})

    def stream(self, text: str, **request: Any) -> list[ChatCompletionChunk]:
        return list(self.ask(text, stream=True, **request))

    def close(self) -> dict[str, Any]:
        return self.api.close("one", self.attempt)

    def rows(self) -> list[tuple[str | None, int]]:
        return [(served["row"].get("route"), served["row"]["status"]) for served in self.close()["served"]]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "suite"
    return SuiteFolder(folder, cases=[case("one")], rules=RULES, tools=[TOOL]).write()


@pytest.fixture(scope="module")
def transport() -> Iterator[Any]:
    """Connections that all clients share: making them anew costs most of a test."""
    client = openai.DefaultHttpxClient()
    yield client
    client.close()


NUMBERS = itertools.count(1)


@pytest.fixture
def lab(api: FixtureProcess, transport: Any) -> Lab:
    attempt = next(NUMBERS)
    prefix = api.open("one", attempt, model=MODEL, prompt="polite")
    url = f"http://127.0.0.1:{api.data_port}{prefix}/v1"
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0, http_client=transport)
    return Lab(api, prefix, attempt, client)


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_without_a_scripted_model_the_clients_exception_says_so(api: FixtureProcess, transport: Any) -> None:
    attempt = next(NUMBERS)
    url = f"http://127.0.0.1:{api.data_port}{api.open('one', attempt)}/v1"
    lab = Lab(api, "", attempt, openai.OpenAI(base_url=url, api_key="none", http_client=transport))
    with pytest.raises(openai.NotFoundError, match="This attempt of case one has no scripted model") as asked:
        lab.ask("greet me")
    assert asked.value.code == "no_scripted_model"
    with pytest.raises(openai.NotFoundError, match="--model scripted/NAME"):
        lab.stream("greet me")
    with pytest.raises(openai.NotFoundError, match="nothing answers GET /v1/models"):
        list(lab.client.models.list())
    assert lab.rows() == [(None, 404)] * 3


def test_a_plain_answer(lab: Lab) -> None:
    completion = lab.ask("greet me", temperature=0, max_completion_tokens=100)
    (choice,) = completion.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == (
        "assistant",
        "Hello, how are you?",
        "stop",
    )
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens, completion.usage.total_tokens) == (
        7,
        5,
        12,
    )
    assert (completion.model, completion.created) == (MODEL, 1788264000)
    assert lab.ask("silent").usage is None
    assert lab.rows() == [("model:support#0", 200), ("model:support#1", 200)]


def test_the_same_streamed(lab: Lab) -> None:
    plain = lab.ask("greet me")
    chunks = lab.stream("greet me")
    assert text_of(chunks) == "Hello, how are you?"
    assert len(chunks) == 1 + 4 + 1
    assert {(chunk.id, chunk.created, chunk.model) for chunk in chunks} == {(plain.id, plain.created, plain.model)}
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks)


def test_usage_of_a_stream(lab: Lab) -> None:
    *chunks, last = lab.stream("greet me", stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.total_tokens) == (7, 12)
    assert all(chunk.usage is None for chunk in chunks)
    silent = lab.stream("silent", stream_options={"include_usage": True})
    assert (text_of(silent), silent[-1].choices[0].finish_reason) == ("no tokens told", "stop")


def test_the_client_puts_parallel_calls_of_a_stream_together(lab: Lab) -> None:
    talk: Any = [{"role": "user", "content": "both"}]
    with lab.client.chat.completions.stream(
        model=MODEL, messages=talk, stream_options={"include_usage": True}, parallel_tool_calls=True
    ) as stream:
        done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
        final = stream.get_final_completion()
    assert [(event.name, event.index) for event in done] == [("lookup_order", 0), ("policy", 1)]
    calls = final.choices[0].message.tool_calls
    assert calls is not None
    assert [(call.id, call.function.name, json.loads(call.function.arguments)) for call in calls] == [
        ("call_1_0", "lookup_order", LOOKUP["arguments"]),
        ("call_1_1", "policy", {}),
    ]
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.usage is not None
    assert final.usage.total_tokens == 12
    plain = lab.ask("both").choices[0].message.tool_calls
    assert [call.model_dump(include={"id"}) for call in plain] == [{"id": "call_1_0"}, {"id": "call_1_1"}]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_conversation_with_a_tool(lab: Lab, streamed: bool) -> None:
    talk: list[Any] = [{"role": "developer", "content": "Help."}, {"role": "user", "content": "order a-1"}]
    more: Any = {"tools": [{key: TOOL[key] for key in ("type", "function")}], "tool_choice": "auto"}
    if streamed:
        with lab.client.chat.completions.stream(model=MODEL, messages=talk, **more) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        message = lab.client.chat.completions.create(model=MODEL, messages=talk, **more).choices[0].message
    assert message.content == "I look."
    assert message.tool_calls is not None
    (call,) = message.tool_calls
    assert call.type == "function"
    order = lab.api.client().ask("GET", f"{lab.prefix}/orders/{json.loads(call.function.arguments)['order_id']}")
    talk += [message, {"role": "tool", "tool_call_id": call.id, "content": order.body.decode()}]
    answer = lab.client.chat.completions.create(model=MODEL, messages=talk, **more)
    assert answer.choices[0].message.content == "It is 5 euro."
    assert lab.rows() == [("model:support#3", 200), ("read-order", 200), ("model:support#4", 200)]


@pytest.mark.parametrize("stream", [False, True])
def test_planned_errors_are_the_clients_own_exceptions(lab: Lab, stream: bool) -> None:
    with pytest.raises(openai.RateLimitError, match="planned error 429") as limited:
        lab.ask("busy", stream=stream)
    assert limited.value.response.headers["retry-after"] == "7"
    assert (limited.value.code, limited.value.type) == ("rate_limit_exceeded", "requests")
    with pytest.raises(openai.InternalServerError, match="planned error 500"):
        lab.ask("broken", stream=stream)
    closed = lab.close()
    assert closed["modelError"] is None
    assert [served["row"]["route"] for served in closed["served"]] == ["model:support#5", "model:support#6"]


def test_a_client_that_tries_again_waits_as_long_as_the_rule_says(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("openai._base_client.time.sleep", waited.append)
    once_more = Lab(lab.api, lab.prefix, lab.attempt, lab.client.with_options(max_retries=1))
    with pytest.raises(openai.RateLimitError):
        once_more.ask("busy")
    assert waited == [7]
    assert lab.rows() == [("model:support#5", 429)] * 2


def test_an_answer_that_is_cut_is_a_lost_connection(lab: Lab) -> None:
    with pytest.raises(openai.APIConnectionError):
        lab.ask("cut")
    assert lab.ask("greet").choices[0].finish_reason == "stop"
    assert lab.rows() == [("model:support#7", 200), ("model:support#0", 200)]


def test_a_stream_that_is_cut_is_read_up_to_there(lab: Lab) -> None:
    chunks = lab.ask("cut", stream=True)
    read = [next(chunks) for _ in range(3)]
    with pytest.raises(openai.APIConnectionError):
        next(chunks)
    assert text_of(read) == "one two"
    assert [chunk.choices[0].finish_reason for chunk in read] == [None] * 3
    (served,) = lab.close()["served"]
    assert (served["row"]["route"], served["row"]["status"]) == ("model:support#7", 200)
    assert served["responseText"].endswith("\n\n")
    assert served["responseText"].count("data: ") == 3


@pytest.mark.parametrize("stream", [False, True])
def test_a_missing_rule_is_read_in_the_exception_and_asked_for_once(lab: Lab, stream: bool) -> None:
    stubborn = Lab(lab.api, lab.prefix, lab.attempt, lab.client.with_options(max_retries=5))
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        stubborn.ask("what?", stream=stream)
    assert str(caught.value) == f"Error code: 422 - {NO_RULE}"
    assert caught.value.code == "no_rule"
    closed = lab.close()
    assert closed["modelError"] == NO_RULE
    assert [served["row"].get("route") for served in closed["served"]] == [None]


def test_a_bad_request_is_read_in_the_exception(lab: Lab) -> None:
    with pytest.raises(openai.BadRequestError, match="400 - n: the scripted model makes one choice") as caught:
        lab.ask("greet", n=2)
    assert (caught.value.param, caught.value.type) == ("n", "invalid_request_error")
    with pytest.raises(openai.BadRequestError, match=r"messages: expected a JSON object"):
        lab.ask("", messages=[])


def test_the_models(lab: Lab) -> None:
    assert [model.id for model in lab.client.models.list()] == [MODEL]
    assert lab.client.models.retrieve(MODEL).owned_by == "labctl"
    with pytest.raises(openai.NotFoundError, match="'gpt-5' does not exist") as caught:
        lab.client.models.retrieve("gpt-5")
    assert caught.value.code == "model_not_found"


def test_equal_requests_get_equal_bytes_also_streamed(api: FixtureProcess) -> None:
    talks = [{"messages": [{"role": "user", "content": text}]} for text in ("greet", "both", "busy", "none")]
    requests = [{**talk, **more} for talk in talks for more in ({}, {"stream": True})]
    replies = []
    for _ in range(2):
        prefix = api.open("one", next(NUMBERS), model=MODEL, prompt="polite")
        client = api.client()
        replies.append([client.ask("POST", f"{prefix}/v1/chat/completions", request) for request in requests])
    assert replies[0] == replies[1]
    assert {name for reply in replies[0] for name, _ in reply.headers} == {
        "content-type",
        "content-length",
        "retry-after",
    }
