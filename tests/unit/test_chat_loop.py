"""The chat loop against a scripted data port: messages, tools, limits and every error text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts.suite.settings import Limits
from providers.conversation import Reply, Session, ToolCall
from runner import clock
from runner.agents.chat import ChatAgent
from runner.agents.interface import AgentRun, Assignment, EndKind
from runner.http_calls import Answer, TimedOutError, UnreachableError
from tests.fakes.assignments import LOOKUP, ORIGIN, REFUND, TOKEN, assignment_of, case_of
from tests.fakes.scripted_server import ScriptedServer, answers, says

TOOLS = (LOOKUP, REFUND)
ASKS = ("lookup_order", {"order_id": "a/b"})


def run(server: ScriptedServer, **fields: Any) -> AgentRun:
    return ChatAgent(ORIGIN, server=server).run(assignment_of(tools=TOOLS, **fields))


def tool_texts(server: ScriptedServer) -> list[str]:
    return [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "tool"]


def test_the_system_message_is_prompt_blank_line_policy() -> None:
    server = ScriptedServer(model=[says("hi")])

    run(server, prompt="Be kind.\n", policy="Pay late.\n")

    assert server.requests[0]["messages"] == [
        {"role": "system", "content": "Be kind.\n\nPay late."},
        {"role": "user", "content": "hello"},
    ]


def test_without_prompt_and_policy_there_is_no_system_message() -> None:
    server = ScriptedServer(model=[says("hi")])

    run(server)

    assert [message["role"] for message in server.requests[0]["messages"]] == ["user"]


def test_the_request_has_what_was_planned_and_the_tools_without_their_binding() -> None:
    server = ScriptedServer(model=[says("hi")])

    run(server)

    request = server.requests[0]
    assert (request["model"], request["seed"], request["temperature"]) == ("support", 1701, 0.0)
    assert "max_tokens" not in request
    assert [sorted(tool) for tool in request["tools"]] == [["function", "type"]] * 2


def test_each_user_message_gets_its_turn() -> None:
    case = case_of(input=[{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
    server = ScriptedServer(model=[says("first"), says("second")])

    found = run(server, case=case)

    assert found.texts == ("first", "second")
    roles = [(message["role"], message["content"]) for message in server.requests[1]["messages"]]
    assert roles == [("user", "one"), ("assistant", "first"), ("user", "two")]
    assert found.ending.kind is EndKind.FINISHED


def test_calls_of_one_reply_run_in_order_and_their_texts_go_back() -> None:
    server = ScriptedServer(
        model=[says("wait", ASKS, ("issue_refund", {"amount": 5})), says("done")],
        tools=[answers({"item": "tent"}), answers({"paid": True}, status=201)],
    )

    found = run(server)

    assert server.calls == [("GET", "/orders/a%2Fb", None), ("POST", "/refunds", b'{"amount":5}')]
    assert tool_texts(server) == ['{"item": "tent"}', '{"paid": true}']
    assert [message.get("tool_call_id") for message in server.requests[1]["messages"][-2:]] == ["call-1", "call-2"]
    assert found.texts == ("wait", "done")
    assert [(event.tool, event.arguments, event.status) for event in found.events] == [
        ("lookup_order", {"order_id": "a/b"}, 200),
        ("issue_refund", {"amount": 5}, 201),
    ]


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        (TimedOutError(), '{"error":"the tool timed out"}', "timeout"),
        (UnreachableError(), '{"error":"the tool could not be reached"}', "unreachable"),
        (answers({"x": 1}, status=404), '{"error":"the tool answered 404"}', 404),
        (answers({}, status=500), '{"error":"the tool answered 500"}', 500),
        (Answer(200, b'{"a":', "application/json"), '{"error":"the tool answered something that is not JSON"}', 200),
        (Answer(200, b'"\xff"', "application/json"), '{"error":"the tool answered something that is not JSON"}', 200),
        (Answer(200, b"", "application/json"), '{"error":"the tool answered something that is not JSON"}', 200),
        (Answer(200, b"{}", "text/html"), '{"error":"the tool answered something that is not JSON"}', 200),
        (Answer(200, b"{}", "application/hal+json; charset=utf-8"), "{}", 200),
        (Answer(204, b"", ""), "", 204),
    ],
)
def test_what_the_model_reads_of_a_tools_answer(answer: Any, text: str, status: int | str) -> None:
    server = ScriptedServer(model=[says(None, ASKS), says("done")], tools=[answer])

    found = run(server)

    assert tool_texts(server) == [text]
    assert found.events[0].status == status
    assert found.ending.kind is EndKind.FINISHED


@pytest.mark.parametrize(
    ("call", "text", "status"),
    [
        (("fly", {}), '{"error":"there is no such tool"}', "no-such-tool"),
        (
            ("lookup_order", '{"order_id":'),
            '{"error":"the arguments are not valid JSON for this tool"}',
            "bad-arguments",
        ),
        (("lookup_order", "[]"), '{"error":"the arguments are not valid JSON for this tool"}', "bad-arguments"),
        (("lookup_order", '{"x": NaN}'), '{"error":"the arguments are not valid JSON for this tool"}', "bad-arguments"),
        (("lookup_order", {}), '{"error":"the arguments are not valid JSON for this tool"}', "bad-arguments"),
    ],
)
def test_a_call_that_cannot_be_made_gets_a_fixed_text_and_counts(call: Any, text: str, status: str) -> None:
    server = ScriptedServer(model=[says(None, call), says("done")])

    found = run(server)

    assert server.calls == []
    assert tool_texts(server) == [text]
    assert (found.events[0].tool, found.events[0].status) == (call[0], status)


def test_arguments_go_back_to_the_model_as_it_wrote_them() -> None:
    server = ScriptedServer(model=[says(None, ("fly", '{ "to" :"x" }')), says("done")])

    run(server)

    assistant = server.requests[1]["messages"][1]
    assert assistant["tool_calls"][0]["function"]["arguments"] == '{ "to" :"x" }'


def test_tokens_are_summed_and_absent_where_the_model_does_not_tell() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    told = run(ScriptedServer(model=[says(None, ("fly", {}), usage=usage), says("done", usage=usage)]))
    silent = run(ScriptedServer(model=[says("done")]))

    assert (told.usage.input_tokens, told.usage.output_tokens, told.usage.model_calls) == (20, 4, 2)
    assert (silent.usage.input_tokens, silent.usage.output_tokens, silent.usage.model_calls) == (None, None, 1)


def test_the_model_call_after_the_last_allowed_one_is_not_made() -> None:
    server = ScriptedServer(model=[says(None, ("fly", {}))] * 9)

    found = run(server, limits=Limits(model_calls=3))

    assert len(server.requests) == 3
    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, "model_calls")
    assert found.ending.reason == "it went past its limit of 3 model calls"


def test_the_tool_call_after_the_last_allowed_one_is_not_made_and_unknown_tools_count() -> None:
    server = ScriptedServer(model=[says(None, ("fly", {}), ASKS, ASKS)], tools=[answers({})] * 9)

    found = run(server, limits=Limits(tool_calls=2))

    assert len(server.calls) == 1
    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, "tool_calls")


def test_every_request_waits_for_its_own_limit_at_most() -> None:
    server = ScriptedServer(model=[says(None, ASKS), says("done")], tools=[answers({})])

    run(server, limits=Limits(seconds=100, model_seconds=7, tool_seconds=3))

    assert server.seconds == [7, 3, 7]


def test_time_that_is_up_ends_the_attempt_and_shortens_the_last_request(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 2.5, 5.0, 5.0, 5.0])
    monkeypatch.setattr(clock, "elapsed_s", lambda: next(now))
    server = ScriptedServer(model=[says(None, ASKS), says("done")], tools=[TimedOutError()])

    found = run(server, limits=Limits(seconds=5, model_seconds=60))

    assert server.seconds == [4.0, 2.5]
    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, "seconds")


def test_no_limit_of_seconds_is_no_limit() -> None:
    server = ScriptedServer(model=[says("done")])

    assert run(server, limits=Limits(seconds=0)).ending.kind is EndKind.FINISHED


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (answers({"error": "private"}, status=503), "the model answered 503"),
        (answers({"choices": []}), "the model's answer is no chat completion"),
        (answers([]), "the model's answer is no chat completion"),
        (Answer(200, b"nothing", "text/plain"), "the model's answer is no chat completion"),
        (answers({"choices": [{"message": {"content": 7}}]}), "the model's answer is no chat completion"),
        (
            answers({"choices": [{"message": {"content": None, "tool_calls": [{"id": "x"}]}}]}),
            "the model's answer is no chat completion",
        ),
    ],
)
def test_a_model_that_fails_is_the_agents_failure_and_its_text_is_in_the_log_only(answer: Answer, reason: str) -> None:
    found = run(ScriptedServer(model=[answer]))

    assert (found.ending.kind, found.ending.reason) == (EndKind.AGENT_ERROR, reason)
    assert answer.body.decode() in str(found.log)


@pytest.mark.parametrize("trouble", [TimedOutError("late"), UnreachableError("refused")])
def test_a_scripted_model_that_cannot_be_reached_is_the_labs_failure(trouble: Exception) -> None:
    found = run(ScriptedServer(model=[trouble]))

    assert found.ending.kind is EndKind.INFRASTRUCTURE


def test_lone_surrogates_of_a_model_become_question_marks() -> None:
    body = json.dumps({"choices": [{"message": {"content": "x\ud800"}}]}).encode()

    found = run(ScriptedServer(model=[Answer(200, body, "application/json")]))

    assert found.texts == ("x?",)


def test_the_secret_prefix_is_in_no_message() -> None:
    server = ScriptedServer(model=[says(None, ASKS), says("done")], tools=[answers({})])

    found = run(server, prompt="p", policy="q")

    assert TOKEN not in json.dumps(server.requests) + repr(found)


class PricedModel:
    """A model outside, each reply of which costs the same and asks for one more call."""

    def __init__(self, cost_usd: float | None) -> None:
        self._cost_usd = cost_usd

    def begin(self, assignment: Assignment) -> PricedModel:
        return self

    def end(self, session: Session) -> None: ...

    def tell(self, text: str) -> None: ...

    def answer(self, call: ToolCall, text: str) -> None: ...

    def ask(self, *, seconds: float) -> Reply:
        return Reply(text=None, calls=(ToolCall("1", "fly", {}, "{}"),), cost_usd=self._cost_usd)


@pytest.mark.parametrize(
    ("cost_usd", "limit", "calls", "spent"), [(0.4, "cost", 2, 0.8), (None, "model_calls", 20, None)]
)
def test_money_that_was_told_is_summed_and_ends_at_its_limit(
    cost_usd: float | None, limit: str, calls: int, spent: float | None
) -> None:
    agent = ChatAgent(ORIGIN, server=ScriptedServer(), model=PricedModel(cost_usd))

    found = agent.run(assignment_of(tools=TOOLS, limits=Limits(cost_usd=0.5)))

    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, limit)
    assert (found.usage.model_calls, found.usage.cost_usd) == (calls, spent)


@pytest.mark.parametrize("most", [20, 19])
def test_what_the_model_writes_has_the_limit_of_an_agents_output(most: int) -> None:
    """`hü` has 3 bytes, the call 12 and its arguments 2, then `hü` once more."""
    server = ScriptedServer(model=[says("hü", ("lookup_order", {})), says("hü")], tools=[answers({})])

    found = run(server, limits=Limits(output_bytes=most))

    kept, kind, limit = (2, EndKind.FINISHED, None) if most == 20 else (1, EndKind.LIMIT, "output")
    assert (found.texts, found.ending.kind, found.ending.limit) == (("hü",) * kept, kind, limit)
