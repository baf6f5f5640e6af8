"""What every adapter gets and gives back: one attempt's assignment, and what the agent did with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from contracts.attempt import AgentEnd, Usage
from contracts.fault_plan import network_faults
from contracts.model_endpoint import is_scripted
from contracts.plan import FAULT_PROFILE, AgentPlan, Conditions
from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.fault import Toxic
from contracts.suite.settings import Limits
from contracts.suite.tool import Tool
from runner import clock
from runner.trace import NO_TRACE, AttemptTrace


@dataclass(frozen=True)
class Assignment:
    """One attempt, as an adapter needs it."""

    case: Case
    attempt: int
    agent: AgentPlan
    conditions: Conditions
    limits: Limits
    """Effective ones: suite, flags and case merged; `seconds` 0 is none."""
    tools: tuple[Tool, ...]
    prompt: str | None
    policy: str | None
    fixture_url: str
    """With the attempt's secret prefix, unless the agent selects by header."""
    model_url: str
    trace: AttemptTrace = NO_TRACE
    """Told what happens while it happens."""
    suite_until_s: float = float("inf")
    """When the suite's time is over, on `runner.clock.elapsed_s`'s clock."""

    @property
    def model_is_outside(self) -> bool:
        """True unless the fixture API serves the agent's model."""
        return not is_scripted(self.agent.model)

    @property
    def has_faults(self) -> bool:
        """True when the case's faults are active."""
        return FAULT_PROFILE in self.conditions.profiles

    @property
    def toxics(self) -> tuple[Toxic, ...]:
        """The network faults that are active."""
        return network_faults(self.case) if self.has_faults else ()

    @property
    def model_is_faulted(self) -> bool:
        """True when a planned fault is on the way to the model: a failure of it is then no failure of the provider."""
        return any(toxic.target == "model" for toxic in self.toxics)

    @property
    def bound_tools(self) -> frozenset[str]:
        """The tools that the journal can see; none where the agent's tools are live ones."""
        if self.conditions.tools == "live":
            return frozenset()
        return frozenset(tool.name for tool in self.tools if tool.http is not None)


@dataclass(frozen=True)
class ToolEvent:
    """A tool call that the agent says it made."""

    tool: str
    arguments: Json
    status: int | str | None = None
    """An HTTP status, or a word such as `denied`."""
    result: str | None = None
    heard_at_ns: int = field(default_factory=clock.wall_ns, compare=False)
    answered_at_ns: int | None = field(default=None, compare=False)


class EndKind(Enum):
    """How an agent's run ended, before anything was checked."""

    FINISHED = "finished"
    AGENT_ERROR = "agent-error"
    LIMIT = "limit"
    PROVIDER = "provider"
    SETUP = "setup"
    SUITE = "suite"
    """The case is one that this agent cannot be given."""
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True)
class Ending:
    """The end of a run; the reason holds no text of the agent or its model."""

    kind: EndKind
    reason: str | None = None
    limit: str | None = None
    """Which limit was passed: seconds, output, tool_calls, model_calls or cost."""


@dataclass(frozen=True)
class AgentRun:
    """What the agent did."""

    ending: Ending
    texts: tuple[str, ...] = ()
    events: tuple[ToolEvent, ...] = ()
    usage: Usage = field(default_factory=Usage)
    log: str | None = None
    agent_end: AgentEnd | None = None
    seconds: float | None = None
    """The agent's own time where the run had to wait for something else first; None: all of it was the agent's."""


class Agent(Protocol):
    """An adapter; one object serves all attempts, from many threads at once."""

    def run(self, assignment: Assignment) -> AgentRun:
        """Let the agent act until it is done, or has to be ended; never raises for what an agent does."""
        ...
