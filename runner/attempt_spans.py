"""The spans below one attempt: live ones of the lab's chat loop; of other agents what journal and agent tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from contracts import span_names as names
from contracts.attempt import AttemptRecord, CheckType
from contracts.control import ServedRequest, without_prefix
from contracts.journal import Via
from contracts.outcome import Outcome
from contracts.plan import Plan
from contracts.record import Json
from providers.conversation import Reply
from runner import span_attributes as attributes_of
from runner.agents.interface import ToolEvent
from runner.attempts import COMPLETIONS, Task
from runner.span_attributes import Attributes, body, plain, tool_name
from runner.trace import AttemptTrace, CallTrace, RequestTrace, TimedCheck

_NS_OF_MS = 1_000_000


class AttemptSpans(AttemptTrace):
    """Makes spans of what an attempt tells."""

    def __init__(self, tracer: Tracer, span: Span, *, plan: Plan, task: Task, known_tools: frozenset[str]) -> None:
        self._tracer = tracer
        self._span = self._innermost = span
        self._context = set_span_in_context(span)
        self._plan = plan
        self._known_tools = known_tools
        self._below: dict[str, Any] = {names.CASE_ID: plain(task.case.id), names.ATTEMPT: task.attempt}
        self._bodies = plan.capture == "payloads"
        if self._bodies:
            messages = [
                {"role": message.role, "parts": [{"type": "text", "content": message.content}]}
                for message in task.case.messages
            ]
            span.set_attribute(names.INPUT_MESSAGES, body(messages))

    @property
    def traceparent(self) -> str | None:
        """See `runner.trace.AttemptTrace`."""
        return _traceparent(self._span)

    def headers(self) -> dict[str, str]:
        """See `runner.trace.AttemptTrace`."""
        return {"traceparent": _traceparent(self._innermost)}

    @contextmanager
    def model_request(self) -> Iterator[RequestTrace]:
        """See `runner.trace.AttemptTrace`."""
        attributes = {**attributes_of.of_model(self._plan.agent, self._plan.conditions), names.SEEN_BY: "client"}
        with self._live(self._model_span_name(), attributes, kind=SpanKind.CLIENT) as span:
            yield _Request(span, bodies=self._bodies)

    @contextmanager
    def tool_call(self, tool: str, *, arguments: Json) -> Iterator[CallTrace]:
        """See `runner.trace.AttemptTrace`."""
        name = tool_name(tool, known=self._known_tools)
        attributes = {**attributes_of.of_tool(name), names.SEEN_BY: "client"}
        with self._live(f"{names.EXECUTE_TOOL} {name}", attributes, kind=SpanKind.INTERNAL) as span:
            yield _Call(span, arguments=arguments, bodies=self._bodies)

    def seen(self, served: Sequence[ServedRequest], events: Sequence[ToolEvent]) -> None:
        """See `runner.trace.AttemptTrace`; the chat loop told all of it while it happened."""
        if self._plan.agent.adapter == "chat":
            return
        for request in served:
            self._of_journal(request)
        bound = frozenset(request.row.tool for request in served)
        for event in events:
            if event.tool not in bound:
                self._of_agent(event)

    def checked(self, checks: Iterable[TimedCheck]) -> None:
        """See `runner.trace.AttemptTrace`; what a judge says is not known here: the driver makes the spans of that."""
        for check, began_at_ns, ended_at_ns in checks:
            if check.type is CheckType.RELEVANCE:
                continue
            span = self._start(f"{names.CHECK} {plain(check.name)}", attributes_of.of_check(check), at_ns=began_at_ns)
            span.add_event(names.EVALUATION, attributes_of.of_evaluation(check), timestamp=ended_at_ns)
            if check.outcome is not Outcome.PASS:
                span.set_status(StatusCode.ERROR)
            span.end(ended_at_ns)

    def finished(self, record: AttemptRecord) -> None:
        """See `runner.trace.AttemptTrace`."""
        self._span.set_attributes(attributes_of.of_end(record))
        if record.outcome is not Outcome.PASS:
            self._span.set_status(StatusCode.ERROR, record.outcome.value)

    def _of_journal(self, request: ServedRequest) -> None:
        row, began_at_ns = request.row, request.decided_at_ns
        if row.tool is not None:
            name = tool_name(row.tool, known=self._known_tools)
            title, attributes = f"{names.EXECUTE_TOOL} {name}", attributes_of.of_tool(name)
        elif row.via is Via.MODEL and row.path == COMPLETIONS:
            title = self._model_span_name()
            attributes = attributes_of.of_model(self._plan.agent, self._plan.conditions)
        else:
            return
        bodies = self._bodies and row.tool is not None
        more = attributes_of.of_call_bodies(request.arguments, request.response_text) if bodies else {}
        self._past(title, {**attributes, **attributes_of.of_served(request), **more}, began_at_ns, row.delay_ms)

    def _of_agent(self, event: ToolEvent) -> None:
        name = tool_name(event.tool, known=self._known_tools)
        status = {} if event.status is None else attributes_of.of_status(event.status)
        result = None if event.result is None else without_prefix(event.result)
        more = attributes_of.of_call_bodies(event.arguments, result) if self._bodies else {}
        attributes = {**attributes_of.of_tool(name), **status, **more, names.SEEN_BY: "agent"}
        took_ns = max((event.answered_at_ns or event.heard_at_ns) - event.heard_at_ns, 0)
        self._past(f"{names.EXECUTE_TOOL} {name}", attributes, event.heard_at_ns, took_ns / _NS_OF_MS)

    def _past(self, title: str, attributes: Attributes, began_at_ns: int | None, took_ms: float) -> None:
        span = self._start(title, attributes, at_ns=began_at_ns)
        if names.ERROR_TYPE in attributes:
            span.set_status(StatusCode.ERROR)
        span.end(None if began_at_ns is None else began_at_ns + int(took_ms * _NS_OF_MS))

    def _start(self, title: str, attributes: Attributes, *, at_ns: int | None = None) -> Span:
        return self._tracer.start_span(
            title, context=self._context, attributes={**attributes, **self._below}, start_time=at_ns
        )

    @contextmanager
    def _live(self, title: str, attributes: Attributes, *, kind: SpanKind) -> Iterator[Span]:
        span = self._tracer.start_span(
            title, context=self._context, attributes={**attributes, **self._below}, kind=kind
        )
        self._innermost = span
        try:
            yield span
        except BaseException as error:  # its text may quote a service: the class says enough
            span.set_attribute(names.ERROR_TYPE, type(error).__name__)
            span.set_status(StatusCode.ERROR)
            raise
        finally:
            self._innermost = self._span
            span.end()

    def _model_span_name(self) -> str:
        return f"{names.CHAT} {plain((self._plan.agent.model or '').partition('/')[2])}".rstrip()


class _Request(RequestTrace):
    def __init__(self, span: Span, *, bodies: bool) -> None:
        self._span = span
        self._bodies = bodies

    def replied(self, reply: Reply) -> None:
        self._span.set_attributes(attributes_of.of_reply(reply, bodies=self._bodies))


class _Call(CallTrace):
    def __init__(self, span: Span, *, arguments: Json, bodies: bool) -> None:
        self._span = span
        self._arguments = arguments
        self._bodies = bodies

    def answered(self, status: int | str, text: str) -> None:
        attributes = attributes_of.of_status(status)
        more = attributes_of.of_call_bodies(self._arguments, text) if self._bodies else {}
        self._span.set_attributes({**attributes, **more})
        if names.ERROR_TYPE in attributes:
            self._span.set_status(StatusCode.ERROR)


def _traceparent(span: Span) -> str:
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
