"""Spans of run, case, attempt, tool call, model request and check: the runner's one door to OpenTelemetry's SDK."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span, StatusCode, Tracer, set_span_in_context

from contracts import span_names as names
from contracts.plan import Plan
from contracts.suite.suite import Suite
from contracts.telemetry import SpanCount, SpansToCollector, SpansToFile
from runner import VERSION, clock
from runner.attempt_spans import AttemptSpans
from runner.attempts import Task
from runner.span_attributes import plain
from runner.span_queue import Sink, SpanQueue
from runner.span_sinks import sink_of
from runner.trace import AttemptTrace, Tracing


@dataclass
class _OpenCase:
    span: Span
    repeats_left: int
    ended_at_ns: int


class SpanTracing(Tracing):
    """Makes one trace of one run."""

    def __init__(self, plan: Plan, suite: Suite, *, sink: Sink) -> None:
        self._plan = plan
        self._known_tools = frozenset(tool.name for tool in suite.tools)
        self._queue = SpanQueue(sink)
        self._tracer = _tracer(plan, self._queue)
        self._run = self._tracer.start_span(
            names.RUN, attributes={names.KIND: "run", names.RUN_ID: plan.run_id}, context=Context()
        )
        self._lock = threading.Lock()
        self._cases: dict[str, _OpenCase] = {}

    @classmethod
    def of(cls, plan: Plan, suite: Suite, *, sink: SpansToFile | SpansToCollector) -> SpanTracing:
        """Tracing of a plan into the sink of its order."""
        return cls(plan, suite, sink=sink_of(sink))

    @contextmanager
    def attempt(self, task: Task) -> Iterator[AttemptTrace]:
        """See `runner.trace.Tracing`."""
        case = self._case_of(task)
        agent = self._plan.agent
        attributes: dict[str, Any] = {
            names.KIND: "attempt",
            names.OPERATION: names.INVOKE_AGENT,
            names.AGENT_NAME: plain(agent.name),
            names.CASE_ID: plain(task.case.id),
            names.ATTEMPT: task.attempt,
            names.REPEAT: task.repeat,
        }
        if task.retry_of is not None:
            attributes[names.RETRY_OF] = task.retry_of
        span = self._tracer.start_span(
            f"{names.INVOKE_AGENT} {plain(agent.name)}", context=set_span_in_context(case.span), attributes=attributes
        )
        try:
            yield AttemptSpans(self._tracer, span, plan=self._plan, task=task, known_tools=self._known_tools)
        except BaseException:
            span.set_status(StatusCode.ERROR)
            raise
        finally:
            case.ended_at_ns = clock.wall_ns()
            span.end(case.ended_at_ns)

    def repeat_over(self, task: Task) -> None:
        """See `runner.trace.Tracing`: the last repeat of a case ends its span."""
        with self._lock:
            case = self._cases.get(task.case.id)
            if case is None:  # nothing of it was attempted
                return
            case.repeats_left -= 1
            if case.repeats_left:
                return
            del self._cases[task.case.id]
        case.span.end(case.ended_at_ns)

    def finish(self) -> SpanCount:
        """See `runner.trace.Tracing`."""
        for case in self._cases.values():  # repeats that were never attempted
            case.span.end(case.ended_at_ns)
        self._run.end()
        return self._queue.finish()

    def _case_of(self, task: Task) -> _OpenCase:
        with self._lock:
            case = self._cases.get(task.case.id)
            if case is None:
                span = self._tracer.start_span(
                    f"{names.CASE} {plain(task.case.id)}",
                    context=set_span_in_context(self._run),
                    attributes={names.KIND: "case", names.CASE_ID: plain(task.case.id)},
                )
                case = _OpenCase(span, repeats_left=task.planned.repeats, ended_at_ns=clock.wall_ns())
                self._cases[task.case.id] = case
            return case


def _tracer(plan: Plan, queue: SpanQueue) -> Tracer:
    """Nothing of the environment's OTEL_ variables counts, and nothing of the machine is told."""
    resource = Resource(
        {names.SERVICE_NAME: "labctl-eval-runner", names.SERVICE_VERSION: VERSION, names.RUN_ID: plan.run_id}
    )
    provider = TracerProvider(
        sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False, span_limits=SpanLimits(max_events=8)
    )
    provider.add_span_processor(queue)
    return provider.get_tracer("labctl", VERSION)
