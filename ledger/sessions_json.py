"""sessions.json: a run over docker-agent sessions as `docker agent eval` writes its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta

from contracts.attempt import AttemptRecord
from contracts.record import Json
from ledger.session_records import SessionRun
from ledger.session_verdict import EvalTotals

_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")


def sessions_json_pieces(run: SessionRun) -> Iterator[bytes]:
    """The file in pieces, one session after the other; equal runs give equal bytes."""
    head = _text(_head(run))
    yield head.removesuffix("\n}").encode() + b',\n  "sessions": ['
    separator = "\n"
    for session in run.sessions():
        yield (separator + _indented(_text(session))).encode()
        separator = ",\n"
    yield b"]\n}\n" if separator == "\n" else b"\n  ]\n}\n"


def _head(run: SessionRun) -> dict[str, Json]:
    plan, totals = run.plan, EvalTotals()
    first, last = None, _EPOCH
    for planned, attempts in run.planned():
        deciding: dict[int, AttemptRecord] = {}
        for attempt in sorted(attempts, key=lambda one: one.attempt):
            deciding[attempt.repeat] = attempt
            began = datetime.fromisoformat(attempt.started_at)
            first = began if first is None else min(first, began)
            last = max(last, began + timedelta(milliseconds=attempt.duration_ms))
        for repeat in range(1, planned.repeats + 1):
            totals.add(deciding.get(repeat))
    return {
        "name": plan.run_id,
        "timestamp": plan.planned_at,
        "duration": go_duration(0 if first is None else round((last - first) / timedelta(milliseconds=1))),
        "config": {
            "agent": plan.agent.name,
            "judge_model": plan.conditions.judge_model or "",
            "concurrency": plan.concurrency,
            "evals_dir": plan.suite,
        },
        "summary": asdict(totals),
    }


def go_duration(milliseconds: int) -> str:
    """A duration as Go writes it, such as 250ms, 1.5s or 1h2m3s."""
    if milliseconds == 0:
        return "0s"
    if milliseconds < 1000:  # noqa: PLR2004 - a second
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes_left = divmod(minutes, 60)
    parts = [f"{hours}h"] if hours else []
    parts += [f"{minutes_left}m"] if minutes else []
    return "".join([*parts, f"{rest / 1000:g}s"])


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _indented(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")
