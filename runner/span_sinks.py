"""Where spans go: a file of JSON lines, or a collector over OTLP/HTTP; each is imported only where it is used."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from contracts.telemetry import SpansToCollector, SpansToFile
from runner import clock
from runner.http_calls import Server, TimedOutError, UnreachableError
from runner.span_queue import Sink, SinkError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

EXPORT_S = 5.0
"""How long one batch may take the collector, the library's own tries included."""
HEALTH_S = 10.0
"""How long the collector may take to come up; attempts do not wait for it."""
PROBE_S = 1.0
_PAUSE_S = 0.1
_HEALTHY = 200


def sink_of(where: SpansToFile | SpansToCollector) -> Sink:
    """The sink of an order."""
    return FileSink(Path(where.path)) if isinstance(where, SpansToFile) else CollectorSink.of(where)


class FileSink:
    """Appends a line of OTLP JSON for each batch, as the collector's file exporter does."""

    def __init__(self, path: Path) -> None:
        from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans  # noqa: PLC0415 - this sink's

        self._encode: Callable[[list[ReadableSpan]], _Encoded] = encode_spans
        self._path = path
        self._file: int | None = None

    def take(self, spans: list[ReadableSpan], *, until_s: float) -> None:  # noqa: ARG002 - a file takes no time
        """See `runner.span_queue.Sink`."""
        line = json.dumps(self._encode(spans).to_dict(), separators=(",", ":")).encode() + b"\n"
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            written = os.write(self._file, line)
        except OSError as error:
            raise SinkError(f"the file of spans cannot be written: {error.strerror}") from error
        if written < len(line):
            raise SinkError("the file of spans was cut: there is no more room")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)


class _Encoded(Protocol):
    def to_dict(self) -> dict[str, object]: ...


class _Posts(Protocol):
    """The library's exporter, as far as it is used."""

    def export(self, spans: list[ReadableSpan]) -> object: ...

    def shutdown(self) -> None: ...


class CollectorSink:
    """Posts batches to a collector, once it is healthy; one that was lost is asked for its health before each batch."""

    def __init__(self, post: _Posts, *, is_success: Callable[[object], bool], health: Callable[[], str | None]) -> None:
        """`health` says what is wrong with the collector, None: nothing."""
        self._post = post
        self._is_success = is_success
        self._health = health
        self._wait_s = HEALTH_S
        self._is_reached = False

    @classmethod
    def of(cls, where: SpansToCollector) -> CollectorSink:
        """The sink for a collector; imports the library's exporter."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - as above
        from opentelemetry.sdk.trace.export import SpanExportResult  # noqa: PLC0415 - as above

        server = Server(where.health_url, connections=1)
        return cls(
            OTLPSpanExporter(endpoint=where.url, timeout=EXPORT_S),
            is_success=lambda result: result is SpanExportResult.SUCCESS,
            health=lambda: _trouble(server),
        )

    def take(self, spans: list[ReadableSpan], *, until_s: float) -> None:
        """See `runner.span_queue.Sink`."""
        if not self._is_reached:
            self._await_health(min(until_s, clock.elapsed_s() + self._wait_s))
        if not self._is_success(self._post.export(spans)):
            self._is_reached, self._wait_s = False, PROBE_S
            raise SinkError(f"the collector did not take a batch within {EXPORT_S:g} s, or refused it")

    def _await_health(self, until_s: float) -> None:
        while (trouble := self._health()) is not None:
            if clock.elapsed_s() + _PAUSE_S > until_s:
                self._wait_s = 0.0
                raise SinkError(f"the collector is not healthy: {trouble}")
            clock.pause(_PAUSE_S)
        self._is_reached = True

    def close(self) -> None:
        """Leave the collector."""
        self._post.shutdown()


def _trouble(server: Server) -> str | None:
    try:
        answer = server.exchange("GET", "/", seconds=PROBE_S, headers={"connection": "close"})
    except (TimedOutError, UnreachableError) as trouble:
        return str(trouble)
    return None if answer.status == _HEALTHY else f"its health check answered {answer.status}"
