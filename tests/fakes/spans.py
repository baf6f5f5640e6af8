"""Spans as a sink gets them, as a collector writes them, and sinks that take them or do not."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Tracer

from runner.span_queue import SinkError, SpanQueue


@dataclass
class KeepingSink:
    """Takes everything, but for the batches with these numbers, from 1."""

    refuses: frozenset[int] = frozenset()
    taken: list[ReadableSpan] = field(default_factory=list)
    batches: int = 0
    is_closed: bool = False

    def take(self, spans: list[ReadableSpan], *, until_s: float) -> None:
        self.batches += 1
        if self.batches in self.refuses:
            raise SinkError("the disk is full")
        self.taken += spans

    def close(self) -> None:
        self.is_closed = True


@dataclass
class StuckSink:
    """Takes nothing before it is let go."""

    go_on: threading.Event = field(default_factory=threading.Event)
    taken: int = 0

    def take(self, spans: list[ReadableSpan], *, until_s: float) -> None:
        self.go_on.wait()
        self.taken += len(spans)

    def close(self) -> None:
        """Nothing is held."""


def tracer_into(queue: SpanQueue) -> Tracer:
    """A tracer whose spans go there."""
    provider = TracerProvider(sampler=ALWAYS_ON, resource=Resource({}), shutdown_on_exit=False)
    provider.add_span_processor(queue)
    return provider.get_tracer("test")


def span_json(number: int, *, parent: int | None = None, name: str = "case a", **attributes: Any) -> dict[str, Any]:
    """A span of OTLP JSON that begins at `number` ms and takes 10 ms."""
    return {
        "traceId": f"{1:032x}",
        "spanId": f"{number:016x}",
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "name": name,
        "startTimeUnixNano": str(number * 1_000_000),
        "endTimeUnixNano": str((number + 10) * 1_000_000),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
        "status": {},
    }


def line_of(*spans: dict[str, Any]) -> bytes:
    """A line with these spans."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode() + b"\n"


def _value(value: Any) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}
