"""What an agent says while it runs, kept within its limits, and what its words mean for how it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from contracts.control import AttemptBreach
from contracts.own_address import OwnAddress
from runner.agents.interface import Assignment, Ending, EndKind
from runner.agents.limits import passed_limit
from runner.agents.output_reader import OutputReader
from runner.world import WorldLostError, WorldRefusedError

CLAIMS_PER_CALL = 10
"""Claims of bound tools are only shown; an agent that claims this many times what it may do is ended."""

R = TypeVar("R", bound=OutputReader)


class Claims(Generic[R]):
    """The words of one attempt; `reader` takes the agent's output."""

    def __init__(self, assignment: Assignment, reader: R) -> None:
        self._assignment = assignment
        self.reader = reader
        self._counted = self._unbound = 0

    def passed(self) -> Ending | None:
        """The limit that the events so far went past: cost, or calls of models and tools that nobody else counts."""
        limits, usage = self._assignment.limits, self.reader.usage
        if limits.cost_usd is not None and (usage.cost_usd or 0.0) > limits.cost_usd:
            return passed_limit("cost", limits=limits)
        if (usage.model_calls or 0) > limits.model_calls:
            return passed_limit("model_calls", limits=limits)
        # those of bound tools are counted where they are served
        new_calls = self.reader.calls[self._counted :]
        self._counted += len(new_calls)
        self._unbound += sum(call.tool not in self._assignment.bound_tools for call in new_calls)
        if self._unbound > limits.tool_calls or self._counted > CLAIMS_PER_CALL * (limits.tool_calls + 1):
            return passed_limit("tool_calls", limits=limits)
        return None

    def told(self, *, exit_code: int | None = None) -> Ending | None:
        """How the agent ended by its own words: it broke the protocol, or reported an error; None: neither."""
        assignment = self._assignment
        trusted = assignment.model_is_outside and not assignment.model_is_faulted
        return self.reader.failure(exit_code=exit_code, trusts_provider=trusted)

    def log(self) -> str | None:
        """What it said beside its events."""
        log = self.reader.log.text()
        return None if log is None else hiding(self._assignment)(log)


def hiding(assignment: Assignment) -> Callable[[str], str]:
    """Takes the secret part of the attempt's address, in any spelling, out of a text."""
    token = assignment.fixture_url.partition("/~")[2]
    if not token:  # an agent that selects by header is told no secret: its URL has no prefix
        return str
    return OwnAddress(token).hidden_in_text


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
