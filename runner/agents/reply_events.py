"""Reads the reply of a served agent: an object with `events`, or a stream of the same JSON lines, told by what comes.

The first line decides: an event begins a stream; anything else that looks like JSON is read to its end as one document.
"""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, field
from enum import Enum

from contracts.json_text import parse_json, parse_unambiguous
from contracts.record import Json
from runner.agents.event_lines import EventLines


class _Form(Enum):
    UNKNOWN = "unknown"
    DOCUMENT = "document"
    STREAM = "stream"


@dataclass
class ReplyEvents:
    """Feeds the events of a reply to `lines`; feed it `finish` at the end."""

    lines: EventLines
    is_json: bool
    """The reply says that it is one JSON document."""
    _form: _Form = _Form.UNKNOWN
    _held: list[str] = field(default_factory=list)
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    def feed(self, piece: bytes) -> None:
        """Take a piece of the body, of any size."""
        self._take(self._decoder.decode(piece))

    def finish(self) -> str | None:
        """There is no more: what is wrong with the reply as a whole, or None."""
        self._take(self._decoder.decode(b"", final=True))
        if self._form is _Form.UNKNOWN:
            self._decide("".join(self._held))
        if self._form is _Form.DOCUMENT:
            return self._read_document("".join(self._held))
        return self._end_stream()

    def _take(self, text: str) -> None:
        if self._form is _Form.STREAM:
            self.lines.feed(text)
            return
        self._held.append(text)
        if self._form is _Form.UNKNOWN and "\n" in text:
            self._look_at_first_line()

    def _look_at_first_line(self) -> None:
        first, end, _ = "".join(self._held).lstrip().partition("\n")
        if end:
            self._decide(first)

    def _decide(self, first: str) -> None:
        self._form = _Form.DOCUMENT if _begins_document(first, is_json=self.is_json) else _Form.STREAM
        if self._form is _Form.STREAM:
            self.lines.feed("".join(self._held))
            self._held.clear()

    def _read_document(self, text: str) -> str | None:
        try:
            document = parse_unambiguous(text)
        except ValueError:
            self.lines.log.add(text)
            return "its reply is neither JSON nor a stream of events"
        events: Json = document.get("events") if isinstance(document, dict) else None
        if not isinstance(events, list):
            self.lines.log.add(text)
            return "its reply has no list `events`"
        for index, event in enumerate(events):
            if not isinstance(event, dict) or not isinstance(event.get("type"), str):
                return f"events[{index}] of its reply is no event"
            self.lines.feed(json.dumps(event, ensure_ascii=False) + "\n")
        return None

    def _end_stream(self) -> str | None:
        lines = self.lines
        is_cut = _is_cut(lines.unfinished)
        lines.finish()
        if is_cut:
            return "its reply ends in the middle of an event"
        said = lines.texts or lines.calls or lines.errors or lines.broken or lines.input_tokens is not None
        return None if said else "its reply holds no event"


def _begins_document(first: str, *, is_json: bool) -> bool:
    """Whether what begins with this line is one document, rather than a stream of lines."""
    try:
        value = parse_json(first)
    except ValueError:
        return is_json or first.lstrip().startswith("{")  # a document on many lines
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return False
    return is_json or (isinstance(value, dict) and "events" in value)


def _is_cut(line: str) -> bool:
    """Whether a last line without its newline is the beginning of an event: a close tells no end from a crash."""
    try:
        parse_json(line)
    except ValueError:
        return line.lstrip().startswith("{")
    return False
