"""Reads the event stream of `docker-agent run --exec --json`: one JSON object a line, types as versions add them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from contracts.attempt import Usage
from contracts.record import Json
from runner.agents.amounts import MOST, amount, whole
from runner.agents.docker_agent_calls import CallsOfStream, MalformedError
from runner.agents.interface import Ending, EndKind, ToolEvent
from runner.agents.output_lines import BrokenEventError, LineBuffer, event_of
from runner.agents.provider_failures import provider_failure
from runner.texts import BoundedText

_ERROR = "Error: "
_MOST_OF_AN_ERROR = 4096
"""Of tokens or dollars: more is no amount, and no sum of such could be written down."""
_SAYS_NOTHING_NEW = frozenset(
    {
        "team_info",
        "agent_info",
        "toolset_info",
        "mcp_init_started",
        "mcp_init_finished",
        "stream_started",
        "stream_stopped",
        "user_message",
        "message_added",
        "tool_call_output",
        "session_title",
        "agent_choice_reasoning",
    }
)
"""Known types whose content stands elsewhere or is the model's own; types that are not known are kept in the log."""


@dataclass
class SessionCounters:
    """What one session, the main one or that of a sub-agent, has consumed so far."""

    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    """The session's own counters, as last said; they hold the last request only."""
    spent_input: int = 0
    spent_output: int = 0
    messages: int = 0
    """Over all messages that the stream tells the tokens of."""

    @property
    def input(self) -> int | None:
        """Tokens over all its messages where the stream tells of those."""
        return self.spent_input if self.messages else self.input_tokens

    @property
    def output(self) -> int | None:
        """The same of what came back."""
        return self.spent_output if self.messages else self.output_tokens


@dataclass
class _Sum:
    """Of the amounts of many sessions, kept as they change: an agent may tell of as many as its output has room for."""

    total: Fraction = Fraction(0)
    known: int = 0

    def change(self, before: float | None, after: float | None) -> None:
        if before is not None:
            self.total -= Fraction(before)
            self.known -= 1
        if after is not None:
            self.total += Fraction(after)
            self.known += 1

    @property
    def cost(self) -> float | None:
        return float(self.total) if self.known else None

    @property
    def tokens(self) -> int | None:
        return min(int(self.total), MOST) if self.known else None


@dataclass
class DockerAgentEvents:
    """Takes output in pieces of any size; implements `runner.agents.output_reader.OutputReader`."""

    hide: Callable[[str], str]
    """Takes the attempt's secrets out of a line."""
    log: BoundedText = field(default_factory=BoundedText)
    _said: list[str] = field(default_factory=list)
    _calls: CallsOfStream = field(default_factory=CallsOfStream)
    _sessions: dict[str, SessionCounters] = field(default_factory=dict)
    _cost: _Sum = field(default_factory=_Sum)
    _input: _Sum = field(default_factory=_Sum)
    _output: _Sum = field(default_factory=_Sum)
    _messages: int = 0
    _errors: list[str] = field(default_factory=list)
    """Of error events, with the prefix that the same error has on standard error."""
    _last_error: str | None = None
    _events: int = 0
    _broken: str | None = None

    def __post_init__(self) -> None:
        self._stdout = LineBuffer(self._take)
        self._stderr = LineBuffer(self._take_stderr)

    def feed(self, text: str) -> None:
        """Take a piece of standard output."""
        self._stdout.feed(text)

    def feed_stderr(self, text: str) -> None:
        """Take a piece of standard error: log, and where a run that failed says why."""
        self._stderr.feed(text)

    def finish(self) -> None:
        """There is no more: unfinished lines are the last ones."""
        self._stdout.finish()
        self._stderr.finish()

    @property
    def texts(self) -> Sequence[str]:
        """One text: all pieces, joined by nothing."""
        return ("".join(self._said),) if self._said else ()

    @property
    def calls(self) -> Sequence[ToolEvent]:
        """The calls so far."""
        return self._calls.made

    @property
    def usage(self) -> Usage:
        """The sums over all sessions, sub-agents' included."""
        return Usage(
            input_tokens=self._input.tokens,
            output_tokens=self._output.tokens,
            cost_usd=self._cost.cost,
            model_calls=self._messages or None,
        )

    def failure(self, *, exit_code: int | None, trusts_provider: bool) -> Ending | None:
        """What the stream, or the last error on standard error, says; see `OutputReader`."""
        if exit_code is None:
            return None
        if self._broken is not None:
            return Ending(kind=EndKind.AGENT_ERROR, reason=f"protocol broken, {self._broken}")
        errors = [*self._errors, *([self._last_error] if self._last_error and exit_code != 0 else [])]
        told = [provider_failure(error) for error in errors]
        if trusts_provider and exit_code != 0 and told and all(told):
            return Ending(kind=EndKind.PROVIDER, reason=f"its model's provider {told[-1]}")
        if self._errors:
            return Ending(kind=EndKind.AGENT_ERROR, reason="it reported an error; its log has the message")
        if exit_code == 0 and self._events == 0:
            return Ending(kind=EndKind.AGENT_ERROR, reason="protocol broken, it wrote no event at all")
        return None

    def _take(self, line: str, number: int) -> None:
        line = self.hide(line)
        try:
            event = event_of(line, known=_TAKERS)
        except BrokenEventError as trouble:
            self.log.add(line + "\n")
            self._broken = self._broken or f"output line {number}: {trouble}"
            return
        kind = event["type"] if event is not None else None
        self._events += event is not None
        take = _TAKERS.get(kind)
        if event is None or take is None:
            if kind not in _SAYS_NOTHING_NEW:
                self.log.add(line + "\n")
            return
        try:
            take(self, event)
        except MalformedError as trouble:
            self.log.add(line + "\n")
            self._broken = self._broken or f"output line {number}: {kind}, {trouble}"

    def _take_stderr(self, line: str, number: int) -> None:  # noqa: ARG002 - of every line
        line = self.hide(line)
        self.log.add(line + "\n")
        if line.startswith(_ERROR):
            self._last_error = line[:_MOST_OF_AN_ERROR]

    def take_choice(self, event: dict[str, Json]) -> None:
        """A piece of what the agent says."""
        content = event.get("content")
        if not isinstance(content, str):
            raise MalformedError("no text in `content`")
        if content:
            self._said.append(content)

    def take_usage(self, event: dict[str, Json]) -> None:
        """A session's counters."""
        usage, session_id = event.get("usage"), event.get("session_id")
        if not isinstance(usage, dict):
            return
        session = self._sessions.setdefault(session_id if isinstance(session_id, str) else "", SessionCounters())
        before = replace(session)
        cost = amount(usage.get("cost"))
        session.cost_usd = session.cost_usd if cost is None else float(cost)
        session.input_tokens = whole(usage.get("input_tokens"))
        session.output_tokens = whole(usage.get("output_tokens"))
        last = usage.get("last_message")
        if isinstance(last, dict):
            session.messages += 1
            self._messages += 1
            session.spent_input += whole(last.get("input_tokens")) or 0
            session.spent_output += whole(last.get("output_tokens")) or 0
        self._cost.change(before.cost_usd, session.cost_usd)
        self._input.change(before.input, session.input)
        self._output.change(before.output, session.output)

    def take_error(self, event: dict[str, Json]) -> None:
        """An error, which later versions write before they exit."""
        error = event.get("error")
        text = error if isinstance(error, str) else "without a message"
        self._errors.append((_ERROR + text)[:_MOST_OF_AN_ERROR])
        self.log.add(f"error: {text}\n")

    @property
    def stream(self) -> CallsOfStream:
        """What takes the events about calls."""
        return self._calls


_TAKERS: dict[Json, Callable[[DockerAgentEvents, dict[str, Json]], None]] = {
    "agent_choice": DockerAgentEvents.take_choice,
    "token_usage": DockerAgentEvents.take_usage,
    "error": DockerAgentEvents.take_error,
    "partial_tool_call": lambda reader, event: reader.stream.partial(event),
    "tool_call_confirmation": lambda reader, event: reader.stream.refusal(event),
    "hook_blocked": lambda reader, event: reader.stream.refusal(event),
    "tool_call": lambda reader, event: reader.stream.call(event),
    "tool_call_response": lambda reader, event: reader.stream.response(event),
}
