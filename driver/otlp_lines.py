"""Lines of OTLP JSON as a collector's file exporter writes them, read as spans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from contracts.record import Json


class LineError(ValueError):
    """A line that is no OTLP JSON of traces."""


class Span(NamedTuple):
    """One span; times are Unix nanoseconds."""

    span_id: str
    parent_id: str | None
    name: str
    began_at_ns: int
    ended_at_ns: int
    attributes: Mapping[str, Json]
    is_error: bool


def parse_line(line: bytes) -> dict[str, Any]:
    """The object of a line; raises LineError."""
    try:
        value = json.loads(line)
    except ValueError as error:
        raise LineError("a line that is no JSON") from error
    if not isinstance(value, dict) or not isinstance(value.get("resourceSpans"), list):
        raise LineError("a line without resourceSpans")
    return value


def raw_spans(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The spans of a line as they stand; raises LineError for any other shape."""
    try:
        for resource in value["resourceSpans"]:
            for scope in resource.get("scopeSpans", ()):
                yield from scope.get("spans", ())
    except (AttributeError, TypeError) as error:
        raise LineError("a line whose spans are no list") from error


def spans_of(value: Mapping[str, Any]) -> Iterator[Span]:
    """The spans of a line; raises LineError for one without what every span has."""
    for raw in raw_spans(value):
        try:
            yield Span(
                span_id=str(raw["spanId"]),
                parent_id=raw.get("parentSpanId") or None,
                name=str(raw["name"]),
                began_at_ns=int(raw["startTimeUnixNano"]),
                ended_at_ns=int(raw["endTimeUnixNano"]),
                attributes={one["key"]: _value(one["value"]) for one in raw.get("attributes", ())},
                is_error=raw.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR"),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise LineError("a span without what every span has") from error


def _value(value: Mapping[str, Json]) -> Json:
    """OTLP writes 64-bit integers as texts."""
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)
