"""What the judge gets to see of an attempt: one line of JSON of bounded size, in which nothing can end it early."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from contracts.attempt import AttemptRecord, TrajectoryCall
from contracts.json_text import without_surrogates
from contracts.record import Json
from contracts.suite.case import Case
from driver.judging.settings import MOST_ENTRIES, TEXT_BYTES, TRANSCRIPT_BYTES

_LEAST_BYTES = 64
_INVISIBLE = re.compile(
    "[<>&`\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
"""Escaped although JSON does not ask for it: what looks like markup, and what nobody sees."""


def transcript_of(case: Case, record: AttemptRecord) -> str:
    """User messages, the assistant's texts, calls with arguments and results: JSON on one line, each text cut.

    Deterministic; at most TRANSCRIPT_BYTES, for which texts are cut to ever fewer bytes.
    """
    limit, most = TEXT_BYTES, MOST_ENTRIES
    while True:
        line = encoded(_transcript(case, record, limit=limit, most=most))
        if len(line.encode()) <= TRANSCRIPT_BYTES:
            return line
        if limit > _LEAST_BYTES:
            limit //= 2
        else:
            most //= 2


def encoded(value: Json) -> str:
    """The value as one line of JSON without markup, invisible or half characters."""
    line = without_surrogates(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))
    return _INVISIBLE.sub(_escape, line)


def _escape(found: re.Match[str]) -> str:
    halves = found.group().encode("utf-16-be")  # JSON has no escape for what is beyond the basic plane
    return "".join(f"\\u{halves[at]:02x}{halves[at + 1]:02x}" for at in range(0, len(halves), 2))


def _transcript(case: Case, record: AttemptRecord, *, limit: int, most: int) -> Json:
    return {
        "user": _each([message.content for message in case.messages], limit=limit, most=most),
        "toolCalls": _middle_left_out([_call(call, limit=limit) for call in record.trajectory if call.counts], most),
        "assistant": _each(record.texts, limit=limit, most=most),
    }


def _each(texts: Sequence[str], *, limit: int, most: int) -> list[Json]:
    return _middle_left_out([_cut(text, limit) for text in texts], most)


def _middle_left_out(entries: list[Json], most: int) -> list[Json]:
    if len(entries) <= most:
        return entries
    half = most // 2
    return [*entries[:half], f"[{len(entries) - 2 * half} entries left out]", *entries[len(entries) - half :]]


def _call(call: TrajectoryCall, *, limit: int) -> Json:
    arguments = call.arguments
    written = json.dumps(arguments, ensure_ascii=False)
    return {
        "tool": _cut(call.tool, limit),
        "arguments": arguments if len(written.encode("utf-8", "replace")) <= limit else _cut(written, limit),
        "status": _cut(call.status, limit) if isinstance(call.status, str) else call.status,
        "result": None if call.result is None else _cut(call.result, limit),
    }


def _cut(text: str, limit: int) -> str:
    """The text, or its first and last part with a note between."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit:
        return text
    half = limit // 2
    head, tail = content[:half].decode(errors="ignore"), content[-half:].decode(errors="ignore")
    return f"{head}[... {len(content) - 2 * half} bytes left out ...]{tail}"
