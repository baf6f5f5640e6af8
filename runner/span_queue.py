"""Spans on their way out: a bounded queue and one thread, which counts what was made and what the sink did not take.

The library's own batch processor drops what its queue cannot hold without a count, and its shutdown knows no time-out.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from contracts.telemetry import SpanCount
from runner import clock

MOST_WAITING = 65_536
"""Spans that wait for the sink; what comes while so many wait is lost, counted, and never holds an attempt up."""
BATCH = 512
LINGER_S = 0.2
"""How long a batch that is not full waits for more."""
FLUSH_S = 10.0
"""How long the end of a run waits for the spans that are still on their way."""


class SinkError(Exception):
    """The sink did not take a batch; the text says why."""


class Sink(Protocol):
    """Whatever takes spans for good."""

    def take(self, spans: list[ReadableSpan], *, until_s: float) -> None:
        """Take a batch; raises SinkError. Gives up by `until_s`, on the runner's clock."""
        ...

    def close(self) -> None:
        """No further batch comes."""
        ...


class SpanQueue(SpanProcessor):
    """Hands finished spans to the sink, in the order in which they ended; safe for many threads."""

    def __init__(self, sink: Sink, *, most_waiting: int = MOST_WAITING) -> None:
        self._sink = sink
        self._most_waiting = most_waiting
        self._waiting: deque[ReadableSpan] = deque()
        self._changed = threading.Condition()
        self._until_s = float("inf")
        self._is_closed = False
        self._made = self._refused = 0
        self._trouble: str | None = None
        self._thread = threading.Thread(target=self._work, name="spans", daemon=True)
        self._thread.start()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """A span counts when it ends."""

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span; returns at once."""
        with self._changed:
            self._made += 1
            if self._is_closed or len(self._waiting) >= self._most_waiting:
                self._lose(1, f"more than {self._most_waiting} spans were waiting for the sink")
                return
            self._waiting.append(span)
            if len(self._waiting) == BATCH:
                self._changed.notify_all()

    def finish(self, *, seconds: float = FLUSH_S) -> SpanCount:
        """Hand on what waits, for at most `seconds`, and say what became of all spans; no further one is taken."""
        with self._changed:
            self._is_closed = True
            self._until_s = clock.elapsed_s() + seconds
            self._changed.notify_all()
        self._thread.join(seconds)
        with self._changed:
            if self._thread.is_alive():
                self._lose(0, f"the sink took longer than {seconds:g} s to take the last spans")
            return SpanCount(made=self._made, refused=self._refused, trouble=self._trouble)

    def _work(self) -> None:
        while batch := self._next_batch():
            try:
                self._sink.take(batch, until_s=self._until_s)
            except SinkError as trouble:
                with self._changed:
                    self._lose(len(batch), str(trouble))
        self._sink.close()

    def _next_batch(self) -> list[ReadableSpan]:
        """Up to BATCH spans; empty when all is over."""
        with self._changed:
            while not self._is_closed and len(self._waiting) < BATCH:
                if not self._changed.wait(LINGER_S) and self._waiting:
                    break
            if clock.elapsed_s() > self._until_s:
                self._lose(len(self._waiting), "the time to hand on the last spans was up")
                self._waiting.clear()
            return [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]

    def _lose(self, count: int, why: str) -> None:
        self._refused += count
        self._trouble = self._trouble or why
