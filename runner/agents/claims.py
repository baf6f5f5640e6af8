"""What an agent says while it runs, kept within its limits, and what its words mean for how it ended."""

from __future__ import annotations

from contracts.control import AttemptBreach
from contracts.own_address import OwnAddress
from runner.agents.event_lines import EventLines
from runner.agents.interface import Assignment, Ending, EndKind
from runner.agents.limits import passed_limit
from runner.world import WorldLostError, WorldRefusedError

CLAIMS_PER_CALL = 10
"""Claims of bound tools are only shown; an agent that claims this many times what it may do is ended."""


class Claims:
    """The events of one attempt; `lines` takes the agent's output."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        # an agent that selects by header is told no secret: its URL has no prefix
        token = assignment.fixture_url.partition("/~")[2]
        self._address = OwnAddress(token) if token else None
        self.lines = EventLines(hide=self.hidden)
        self._counted = self._unbound = 0

    def passed(self) -> Ending | None:
        """The limit that the events so far went past: cost, or calls of tools that nobody else counts."""
        limits, lines = self._assignment.limits, self.lines
        if limits.cost_usd is not None and (lines.cost_usd or 0.0) > limits.cost_usd:
            return passed_limit("cost", limits=limits)
        # those of bound tools are counted where they are served
        new_calls = lines.calls[self._counted :]
        self._counted += len(new_calls)
        self._unbound += sum(call.tool not in self._assignment.bound_tools for call in new_calls)
        if self._unbound > limits.tool_calls or self._counted > CLAIMS_PER_CALL * (limits.tool_calls + 1):
            return passed_limit("tool_calls", limits=limits)
        return None

    def told(self) -> Ending | None:
        """How the agent ended by its own words: it broke the protocol, or reported an error; None: neither."""
        lines = self.lines
        if lines.broken is not None:
            return agent_error(f"protocol broken, {lines.broken}")
        if not lines.errors:
            return None
        if self._assignment.model_is_outside and all(kind == "provider" for kind in lines.errors):
            return Ending(kind=EndKind.PROVIDER, reason="it said that its model's provider failed")
        return agent_error("it reported an error; its log has the message")

    def hidden(self, text: str) -> str:
        """The text without the attempt's secret."""
        return text if self._address is None else self._address.hidden_in_text(text)

    def log(self) -> str | None:
        """What it said beside its events."""
        log = self.lines.log.text()
        return None if log is None else self.hidden(log)


def heard(about: object, assignment: Assignment) -> Ending | None:
    """How what the world says of an attempt ends it; None: not at all."""
    match about:
        case AttemptBreach(limit=str(limit)):
            return passed_limit(limit, limits=assignment.limits)
        case WorldLostError() | WorldRefusedError():
            return lost(str(about))
    return None


def agent_error(reason: str) -> Ending:
    """The ending of an agent that failed by itself."""
    return Ending(kind=EndKind.AGENT_ERROR, reason=reason)


def lost(reason: str) -> Ending:
    """The ending of an agent that the lab failed."""
    return Ending(kind=EndKind.INFRASTRUCTURE, reason=reason)
