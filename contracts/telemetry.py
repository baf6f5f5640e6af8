"""Where the runner's spans go, how many it made, and how many of them are in the evidence."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.record import Record

OBSERVE_PROFILE = "observe"
"""The profile under which spans are made."""


class SpansToFile(Record):
    """The runner writes them itself, as JSON lines of OTLP (process backend)."""

    kind: Literal["json-lines"] = "json-lines"
    path: str


class SpansToCollector(Record):
    """A collector on the control network takes them over OTLP/HTTP and writes the same lines (Compose)."""

    kind: Literal["otlp-http"] = "otlp-http"
    url: str
    """Where spans are posted."""
    health_url: str


COLLECTOR = "otel-collector"
"""Its service of compose.yaml, and its name on the control network, where it exists exactly with the profile."""
COLLECTOR_SINK = SpansToCollector(url=f"http://{COLLECTOR}:4318/v1/traces", health_url=f"http://{COLLECTOR}:13133")

SpanSink = Annotated[SpansToFile | SpansToCollector, Field(discriminator="kind")]


class SpanCount(Record):
    """What the runner says of its spans at its end."""

    made: int
    """Spans that ended: each should stand in the file."""
    refused: int = 0
    """Spans that the sink did not take, as far as the runner saw it."""
    trouble: str | None = None
    """The first thing that went wrong on their way."""


class Telemetry(Record):
    """environment.json: what became of the spans of a run with the profile observe; it changes no verdict."""

    sink: Literal["json-lines", "otlp-http"]
    spans_made: int | None = None
    """None: the runner ended before it could say."""
    spans_written: int
    """In traces/otlp.jsonl."""
    spans_lost: int | None = None
    """Made and not written; None where it is not known how many were made."""
    dropped_lines: int = 0
    """Lines of the sink's file that were cut or too many, and are not in the evidence."""
    troubles: tuple[str, ...] = ()
    """What was seen to go wrong."""
