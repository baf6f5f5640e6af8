"""Spans of the checks that a judge decides, which the driver makes: lines of OTLP JSON like the runner's."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field

from contracts import span_names as names
from contracts.attempt import Check, CheckType
from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome
from contracts.record import Json
from driver import clock

_INTERNAL, _ERROR = 1, 2
_SPAN_ID_BYTES = 8
_PARTS = 4


@dataclass
class JudgeSpans:
    """Collects them while attempts are judged; safe for many threads."""

    lines: list[bytes] = field(default_factory=list)
    """One for each attempt that has such a check."""
    made: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, judged: RunnerAttempt, *, began_at_ns: int, ended_at_ns: int) -> None:
        """Take the checks of an attempt, all of which were asked about at once."""
        checks = [check for check in judged.record.checks if check.type is CheckType.RELEVANCE]
        parts = (judged.traceparent or "").split("-")
        if not checks or len(parts) != _PARTS:
            return
        _, trace_id, parent_id, _ = parts
        identity = {
            "traceId": trace_id,
            "parentSpanId": parent_id,
            "startTimeUnixNano": str(began_at_ns),
            "endTimeUnixNano": str(ended_at_ns),
            "kind": _INTERNAL,
        }
        of_attempt = {names.CASE_ID: judged.record.case_id, names.ATTEMPT: judged.record.attempt}
        line = _line([{**identity, **_of_check(check, of_attempt, ended_at_ns)} for check in checks])
        with self._lock:
            self.made += len(checks)
            self.lines.append(line)


def _of_check(check: Check, of_attempt: dict[str, Json], ended_at_ns: int) -> dict[str, Json]:
    """Neither what was judged nor why: the attempt's record has both, at its capture level."""
    own = {names.KIND: "check", names.CHECK_TYPE: check.type.value, names.OUTCOME: check.outcome.value}
    evaluation = {names.EVALUATION_NAME: check.name, names.EVALUATION_LABEL: check.outcome.value}
    event = {"timeUnixNano": str(ended_at_ns), "name": names.EVALUATION, "attributes": _attributes(evaluation)}
    return {
        "spanId": clock.random_bytes(_SPAN_ID_BYTES).hex(),
        "name": f"{names.CHECK} {check.name}",
        "attributes": _attributes({**own, **of_attempt}),
        "events": [event],
        "status": {} if check.outcome is Outcome.PASS else {"code": _ERROR},
    }


def _attributes(values: dict[str, Json]) -> list[Json]:
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in values.items()
    ]


def _line(spans: list[dict[str, Json]]) -> bytes:
    resource = {"attributes": _attributes({names.SERVICE_NAME: "labctl-driver"})}
    document = {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "labctl"}, "spans": spans}]}]
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
