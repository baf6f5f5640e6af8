"""What a check gets to see, and how a verdict is written down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from contracts.attempt import Check, CheckType, TrajectoryCall, Usage
from contracts.control import UnmatchedRequest
from contracts.outcome import Outcome
from contracts.record import Json
from contracts.suite.case import Case

DENIED = "denied"
"""The status of a call that a safety policy refused."""


@dataclass(frozen=True)
class Observed:
    """Everything that was seen of one attempt."""

    calls: tuple[TrajectoryCall, ...] = ()
    """Made and claimed, in order."""
    texts: tuple[str, ...] = ()
    state: Json = None
    """The case's state at the end."""
    unmatched: tuple[UnmatchedRequest, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    """How long the agent ran."""
    passed_limit: str | None = None
    """The limit that ended it: seconds, tool_calls, model_calls, cost or output."""

    @cached_property
    def text(self) -> str:
        """The judged text."""
        return "\n".join(self.texts)

    @cached_property
    def counted(self) -> tuple[TrajectoryCall, ...]:
        """The calls that are part of what the agent did."""
        return tuple(call for call in self.calls if call.counts)


class CheckFunction(Protocol):
    """One kind of check: all its verdicts on one attempt, without any effect; `reason` holds no text of the agent."""

    def __call__(self, case: Case, observed: Observed) -> Iterator[Check]:
        """The verdicts, none where the case does not ask for this kind."""
        ...


SHOWN_CHARACTERS = 80
"""Of an expectation, in the name of its check."""

NAME_BYTES = 64
"""What the ledger keeps plain at every capture level."""


def short(text: str) -> str:
    """The text on one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def shown_name(name: str) -> str:
    """A tool's name as a reason may hold it: a long one is an agent's own text."""
    return name if len(name.encode()) <= NAME_BYTES else f"<a name of {len(name.encode())} bytes>"


def verdict(  # noqa: PLR0913 - the fields of a check
    name: str,
    *,
    kind: CheckType,
    holds: bool | None,
    reason: str,
    expected: Json = None,
    actual: Json = None,
    score: float | None = None,
) -> Check:
    """A check; `holds` None could not be told."""
    outcome = Outcome.UNKNOWN if holds is None else Outcome.PASS if holds else Outcome.FAIL
    return Check(name=name, type=kind, outcome=outcome, score=score, expected=expected, actual=actual, reason=reason)
