"""Reads an agent's standard output: JSON lines of known types are events, everything else is its log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from contracts.attempt import Usage
from contracts.record import Json
from runner.agents.amounts import added, amount, whole
from runner.agents.interface import Ending, EndKind, ToolEvent
from runner.agents.output_lines import BrokenEventError, LineBuffer, WholeLines, event_of
from runner.texts import TEXT_BYTES, BoundedText

MAX_NAME = 200
"""Characters of a tool's name."""


class _MalformedError(ValueError):
    """An event without what its type needs."""


@dataclass
class EventLines:
    """Takes output in pieces of any size; feed it `finish` at the end."""

    hide: Callable[[str], str]
    """Takes the attempt's secrets out of a line."""
    log: BoundedText = field(default_factory=BoundedText)
    texts: list[str] = field(default_factory=list)
    calls: list[ToolEvent] = field(default_factory=list)
    errors: list[str | None] = field(default_factory=list)
    """The class of each error event: `provider` or None."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    broken: str | None = None
    """The first line that broke the protocol, and how."""

    def __post_init__(self) -> None:
        self._lines = LineBuffer(self._take)
        self._stderr = WholeLines(self.log.add, longest=TEXT_BYTES)

    def feed(self, text: str) -> None:
        """Take a piece of standard output."""
        self._lines.feed(text)

    def finish(self) -> None:
        """There is no more: unfinished lines are the last ones."""
        self._lines.finish()
        self._stderr.finish()

    def feed_stderr(self, text: str) -> None:
        """Take a piece of standard error: it is log, by whole lines, with no line of standard output inside of one."""
        self._stderr.feed(text)

    def failure(self, *, exit_code: int | None, trusts_provider: bool) -> Ending | None:  # noqa: ARG002 - the protocol's
        """What its events say went wrong; see `runner.agents.output_reader.OutputReader`."""
        if self.broken is not None:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"protocol broken, {self.broken}")
        if not self.errors:
            return None
        if trusts_provider and all(kind == "provider" for kind in self.errors):
            return Ending(kind=EndKind.PROVIDER, reason="it said that its model's provider failed")
        return Ending(kind=EndKind.AGENT_ERROR, reason="it reported an error; its log has the message")

    @property
    def unfinished(self) -> str:
        """The last line, as long as it has no end."""
        return self._lines.unfinished

    @property
    def usage(self) -> Usage:
        """The sums of all usage events."""
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens, cost_usd=self.cost_usd)

    def _take(self, line: str, number: int) -> None:
        line = self.hide(line)
        try:
            event = event_of(line, known=_TAKERS)
        except BrokenEventError as trouble:
            self.log.add(line + "\n")
            self.broken = self.broken or f"output line {number}: {trouble}"
            return
        take = _TAKERS.get(event.get("type", "")) if event is not None else None
        if event is None or take is None:
            self.log.add(line + "\n")
            return
        try:
            take(self, event)
        except _MalformedError as trouble:
            self.log.add(line + "\n")
            self.broken = self.broken or f"output line {number}: {event['type']}, {trouble}"


def _take_message(lines: EventLines, event: dict[str, Json]) -> None:
    lines.texts.append(_text(event, "text"))


def _take_call(lines: EventLines, event: dict[str, Json]) -> None:
    name, arguments, status = _text(event, "name"), event.get("arguments"), event.get("status")
    if len(name) > MAX_NAME:
        raise _MalformedError("its name is too long")
    if not isinstance(arguments, dict):
        raise _MalformedError("its arguments are no object")
    if isinstance(status, bool) or not isinstance(status, int | str | None):
        raise _MalformedError("its status is no number or word")
    lines.calls.append(ToolEvent(tool=name, arguments=arguments, status=status))


def _take_usage(lines: EventLines, event: dict[str, Json]) -> None:
    for key in ("inputTokens", "outputTokens"):
        if whole(event.get(key)) is None:
            raise _MalformedError(f"no amount in `{key}`")
    lines.input_tokens = added(lines.input_tokens, whole(event["inputTokens"]))
    lines.output_tokens = added(lines.output_tokens, whole(event["outputTokens"]))
    if event.get("costUsd") is not None:
        cost = amount(event["costUsd"])
        if cost is None:
            raise _MalformedError("no amount in `costUsd`")
        lines.cost_usd = added(lines.cost_usd, float(cost))


def _take_error(lines: EventLines, event: dict[str, Json]) -> None:
    message, kind = _text(event, "message"), event.get("class")
    if kind not in {None, "provider"}:
        raise _MalformedError("its class is unknown")
    lines.errors.append(kind)
    lines.log.add(f"error: {message}\n")


_TAKERS = {"message": _take_message, "tool_call": _take_call, "usage": _take_usage, "error": _take_error}


def _text(event: dict[str, Json], key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise _MalformedError(f"no text in `{key}`")
    return value
