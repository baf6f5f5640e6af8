"""Spans as they are made: names of the conventions, parents, headers for others, and nobody's words at metadata."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from contracts.attempt import Check, CheckType
from contracts.outcome import Outcome
from contracts.plan import Plan, PlannedCase
from contracts.suite.case import Case
from contracts.suite.suite import Suite
from contracts.suite.tool import Tool
from providers.conversation import Reply, ToolCall
from runner.agents.chat import ChatAgent
from runner.agents.interface import ToolEvent
from runner.agents.served_attempt import _attempt_headers
from runner.agents.task import attempt_env
from runner.attempts import Task
from runner.spans import SpanTracing
from runner.trace import AttemptTrace, TimedCheck
from tests.fakes.assignments import (
    DIGEST,
    LOOKUP,
    ORIGIN,
    TOKEN,
    UNBOUND,
    assignment_of,
    case_of,
    conditions_of_test,
    served_of,
)
from tests.fakes.scripted_server import ScriptedServer, answers, says
from tests.fakes.spans import KeepingSink
from tests.unit.test_attempt_making import suite_of

PLANTED = "planted words of somebody"


def tracing(sink: KeepingSink, *, adapter: str = "command", capture: str = "metadata") -> SpanTracing:
    case = case_of()
    agent = assignment_of().agent.model_copy(update={"adapter": adapter})
    plan = Plan(
        run_id="run-1",
        labctl="0",
        command=("labctl", "run"),
        suite="fixtures",
        agent=agent,
        conditions=conditions_of_test(),
        capture=capture,
        concurrency=1,
        planned_at="2026-09-01T12:00:00Z",
        cases=(planned_of(case),),
    )
    return SpanTracing(plan, suite_with_tools(case), sink=sink)


def suite_with_tools(case: Case) -> Suite:
    return replace(suite_of(case), tools=tuple(Tool.model_validate(tool) for tool in (LOOKUP, UNBOUND)))


def planned_of(case: Case, *, repeats: int = 1) -> PlannedCase:
    return PlannedCase(case_id=case.id, title="Greets", protected=False, case_digest=DIGEST, repeats=repeats)


def task_of(*, repeat: int = 1, repeats: int = 1) -> Task:
    case = case_of()
    return Task(planned=planned_of(case, repeats=repeats), case=case, attempt=repeat, repeat=repeat)


def finished(traced: SpanTracing, sink: KeepingSink) -> dict[str, ReadableSpan]:
    """Name to span; no two have one name."""
    assert traced.finish().refused == 0
    by_name = {span.name: span for span in sink.taken}
    assert len(by_name) == len(sink.taken)
    return by_name


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def parent_id(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def text_of(sink: KeepingSink) -> str:
    return "\n".join(span.to_json() for span in sink.taken)


def test_run_case_and_attempt_are_one_below_the_other() -> None:
    sink = KeepingSink()
    traced = tracing(sink)
    for repeat in (1, 2):
        with traced.attempt(task_of(repeat=repeat, repeats=2)) as trace:
            assert (trace.traceparent or "").startswith("00-")
        traced.repeat_over(task_of(repeat=repeat, repeats=2))
    traced.finish()
    run, case = (next(span for span in sink.taken if span.name == name) for name in ("run", "case greets"))
    attempts = [span for span in sink.taken if span.name == "invoke_agent support"]
    assert (parent_id(run), parent_id(case)) == (None, run.context and run.context.span_id)
    assert {parent_id(span) for span in attempts} == {case.context and case.context.span_id}
    assert case.end_time == max(span.end_time or 0 for span in attempts)
    assert attributes(attempts[0])["gen_ai.operation.name"] == "invoke_agent"


def test_a_case_whose_last_repeats_were_never_made_still_has_its_span() -> None:
    sink = KeepingSink()
    traced = tracing(sink)
    with traced.attempt(task_of(repeats=3)):
        pass
    traced.repeat_over(task_of(repeats=3))
    assert {"run", "case greets", "invoke_agent support"} == set(finished(traced, sink))


def test_the_chat_loop_tells_calls_while_they_happen_and_hands_its_place_on() -> None:
    sink = KeepingSink()
    traced = tracing(sink, adapter="chat")
    server = ScriptedServer(
        model=[says(None, ("lookup_order", {"order_id": "7"})), says(PLANTED)], tools=[answers({"note": PLANTED})]
    )
    with traced.attempt(task_of()) as trace:
        ChatAgent(ORIGIN, server=server).run(replace(assignment_of(tools=(LOOKUP,)), trace=trace))
    traced.finish()
    tool = next(span for span in sink.taken if span.name == "execute_tool lookup_order")
    models = [span for span in sink.taken if span.name == "chat support"]
    expected = {"gen_ai.tool.name": "lookup_order", "http.response.status_code": 200, "labctl.seen_by": "client"}
    assert expected.items() <= attributes(tool).items()
    assert attributes(models[0])["gen_ai.provider.name"] == "scripted"
    ids = [f"{span.context.span_id:016x}" for span in (models[0], tool, models[1]) if span.context]
    assert [headers["traceparent"].split("-")[2] for headers in server.headers] == ids
    assert PLANTED not in text_of(sink)


def test_what_other_agents_did_is_told_by_the_journal_and_their_own_word() -> None:
    sink = KeepingSink()
    traced = tracing(sink)
    served = served_of(1, "lookup_order", {"order_id": PLANTED}, status=500)
    timed = served.model_copy(update={"decided_at_ns": 5_000, "row": served.row.model_copy(update={"delay_ms": 2})})
    events = [
        ToolEvent(tool="lookup_order", arguments={"order_id": PLANTED}),
        ToolEvent(tool="think", arguments={}, status="denied", result=PLANTED, heard_at_ns=10, answered_at_ns=30),
        ToolEvent(tool=PLANTED, arguments={}),
    ]
    with traced.attempt(task_of()) as trace:
        trace.seen([timed, served_of(2, None)], events)
    spans = finished(traced, sink)
    made = spans["execute_tool lookup_order"]
    assert (made.start_time, made.end_time) == (5_000, 5_000 + 2_000_000)
    assert attributes(made)["labctl.seen_by"] == "fixture-api"
    assert attributes(made)["error.type"] == "500"
    assert made.status.status_code is StatusCode.ERROR
    assert attributes(spans["chat support"])["labctl.via"] == "model"
    said = spans["execute_tool think"]
    assert (said.start_time, said.end_time, attributes(said)["labctl.seen_by"]) == (10, 30, "agent")
    assert f"execute_tool <a name of {len(PLANTED)} characters>" in spans
    assert PLANTED not in text_of(sink)


def test_checks_are_spans_with_an_evaluation_and_what_a_judge_decides_is_left_to_the_driver() -> None:
    sink = KeepingSink()
    traced = tracing(sink)
    failed = Check(
        name="contains x", type=CheckType.ASSERTION, outcome=Outcome.FAIL, score=0.5, actual=PLANTED, reason=PLANTED
    )
    judged = Check(name="is polite", type=CheckType.RELEVANCE, outcome=Outcome.UNKNOWN)
    with traced.attempt(task_of()) as trace:
        trace.checked([TimedCheck(failed, 10, 20), TimedCheck(judged, 20, 20)])
    spans = finished(traced, sink)
    span = spans["check contains x"]
    (event,) = span.events
    assert (event.name, dict(event.attributes or {})) == (
        "gen_ai.evaluation.result",
        {
            "gen_ai.evaluation.name": "contains x",
            "gen_ai.evaluation.score.label": "fail",
            "gen_ai.evaluation.score.value": 0.5,
        },
    )
    assert (span.start_time, span.end_time, span.status.status_code) == (10, 20, StatusCode.ERROR)
    assert "check is polite" not in spans
    assert PLANTED not in text_of(sink)


def test_with_payloads_bodies_are_attributes_and_huge_ones_are_told_by_size() -> None:
    sink = KeepingSink()
    traced = tracing(sink, adapter="chat", capture="payloads")
    with traced.attempt(task_of()) as trace:
        with trace.model_request() as request:
            call = ToolCall(id="1", name="lookup_order", arguments={"a": 1}, written='{"a": 1}')
            request.replied(Reply(text=PLANTED, calls=(call,), input_tokens=3, output_tokens=4, cost_usd=0.5))
        with trace.tool_call("lookup_order", arguments={"a": PLANTED}) as tool:
            tool.answered("timeout", "x" * 70_000)
    spans = finished(traced, sink)
    model = attributes(spans["chat support"])
    assert PLANTED in model["gen_ai.output.messages"]
    assert (model["gen_ai.usage.input_tokens"], model["gen_ai.usage.output_tokens"]) == (3, 4)
    called = attributes(spans["execute_tool lookup_order"])
    assert called["gen_ai.tool.call.arguments"] == f'{{"a": "{PLANTED}"}}'
    assert called["gen_ai.tool.call.result"] == "<70000 bytes>"
    assert (called["labctl.tool.status"], called["error.type"]) == ("timeout", "timeout")
    assert "hello" in attributes(spans["invoke_agent support"])["gen_ai.input.messages"]


def test_a_model_that_fails_is_an_error_by_its_kind_without_its_words() -> None:
    sink = KeepingSink()
    traced = tracing(sink, adapter="chat")
    with traced.attempt(task_of()) as trace, pytest.raises(ValueError, match=PLANTED), trace.model_request():
        raise ValueError(PLANTED)
    span = finished(traced, sink)["chat support"]
    assert (attributes(span)["error.type"], span.status.status_code) == ("ValueError", StatusCode.ERROR)
    assert PLANTED not in text_of(sink)


def test_a_lone_surrogate_is_no_obstacle() -> None:
    sink = KeepingSink()
    traced = tracing(sink, capture="payloads")
    with traced.attempt(task_of()) as trace:
        trace.seen([], [ToolEvent(tool="think", arguments={"a": "\ud800"}, result="\ud800")])
    span = finished(traced, sink)["execute_tool think"]
    assert all(value.encode() for value in attributes(span).values() if isinstance(value, str))


def test_agents_are_told_their_place_in_the_trace_and_none_where_there_is_none() -> None:
    class Traced(AttemptTrace):
        @property
        def traceparent(self) -> str | None:
            return "00-a-b-01"

        def headers(self) -> dict[str, str]:
            return {"traceparent": "00-a-b-01"}

    assignment = replace(assignment_of(), trace=Traced())
    assert attempt_env(assignment)["TRACEPARENT"] == "00-a-b-01"
    assert _attempt_headers(assignment)["traceparent"] == "00-a-b-01"
    assert "TRACEPARENT" not in attempt_env(assignment_of())
    assert "traceparent" not in _attempt_headers(assignment_of())
    assert TOKEN not in attempt_env(assignment)["TRACEPARENT"]
