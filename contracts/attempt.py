"""What one attempt did and how it was judged: the line that traces/attempts.jsonl keeps."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.outcome import Outcome, OutcomeClass
from contracts.record import Json, Record


class CheckType(StrEnum):
    """The closed list of check types (CONTRACT §7)."""

    TOOL_CALLS = "tool-calls"
    NEVER_TOOL = "never-tool"
    DENIED_TOOL = "denied-tool"
    TOOL_ORDER = "tool-order"
    STATE = "state"
    ASSERTION = "assertion"
    SIZE = "size"
    RELEVANCE = "relevance"
    LIMIT = "limit"
    UNMATCHED_REQUESTS = "unmatched-requests"


class Check(Record):
    """One verdict; `expected`, `actual` and `reason` say why to a person."""

    name: str
    type: CheckType
    outcome: Outcome
    score: float | None = None
    """In [0, 1]; only for checks that measure (tool-calls: F1)."""
    expected: Json = None
    actual: Json = None
    reason: str | None = None


class TrajectoryCall(Record):
    """One tool call, in the order in which it happened."""

    tool: str
    arguments: Json = None
    """A JSON object; None where they could not be read."""
    status: int | str | None = None
    """The HTTP status that was served, or an event's own word such as `denied`; None: not known."""
    made: bool
    """The journal has it (always false for unbound tools)."""
    claimed: bool
    """The agent said so in an event."""
    counts: bool
    """It is part of what the agent did: made, or claimed for a tool that the journal cannot see."""
    request_digest: str | None = None
    response_digest: str | None = None
    result: str | None = None
    """The text that the tool answered, cut to the capture level."""


class Usage(Record):
    """What the attempt consumed; None where nothing measured it, never an invented zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    model_calls: int | None = None


class AgentEnd(Record):
    """How the agent's process ended (command adapter)."""

    exit_code: int | None = None
    signal: int | None = None
    reason: str
    """exit, seconds, output, asked, tool_calls, model_calls, cost or supervisor-lost."""
    strays: int = 0
    """Descendants that were still alive and had to be ended."""


class JudgeVote(Record):
    """One verdict that was asked for, with everything that was spent on it."""

    outcome: Outcome
    """unknown: it could not be had."""
    reason: str | None = None
    """The judge's own words, cut to the capture level."""
    trouble: str | None = None
    """Why there is no verdict, in the lab's words."""
    requests: int
    """How often the judge's service was asked, tries that failed included."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class JudgeVerdict(Record):
    """What the judge said of one statement; more than one vote must agree."""

    check: str
    """The name of the relevance check."""
    votes: tuple[JudgeVote, ...]


class FaultWitness(Record):
    """Whether the attempt met one planned fault, with the figures that say so."""

    kind: Literal["network", "response"]
    index: int
    """In the case's list of that kind."""
    type: str
    """The toxic's type, or the response fault's kind."""
    met: bool
    target: Literal["tools", "model"] | None = None
    """Of a network fault: whose connections it was on."""
    stream: Literal["downstream", "upstream"] | None = None
    request_bytes: int | None = None
    """Of a network fault: what the proxy received from the agent."""
    received_bytes: int | None = None
    """Of a network fault: what the proxy received in the toxic's own direction."""
    sent_bytes: int | None = None
    """Of a network fault: what the proxy passed on in the toxic's own direction."""
    route: str | None = None
    """Of a response fault."""
    answers: int | None = None
    """Of a response fault: how many bad answers were served."""


class AttemptRecord(Record):
    """One finished attempt; results.json and junit.xml are computed from these lines and the plan alone."""

    schema_version: Literal[1] = 1
    case_id: str
    title: str
    protected: bool
    case_digest: str
    attempt: int
    """From 1, unique in its case."""
    repeat: int
    """From 1 to the number of repeats."""
    retry_of: int | None = None
    outcome: Outcome
    outcome_class: OutcomeClass | None = Field(default=None, alias="class")
    reason: str | None = None
    checks: tuple[Check, ...] = ()
    judge_verdicts: tuple[JudgeVerdict, ...] | None = None
    """None: no judge was asked about this attempt."""
    trajectory: tuple[TrajectoryCall, ...] = ()
    trajectory_digest: str
    """Over tools, arguments and statuses of the calls that count, before any text is cut."""
    tool_calls: int
    """How many calls of the trajectory count."""
    texts: tuple[str, ...] = ()
    """The assistant's texts in order; the judged text is these joined by a newline."""
    log: str | None = None
    """The agent's other output, cut to 64 KiB."""
    usage: Usage = Usage()
    faults: tuple[FaultWitness, ...] | None = None
    """One for each planned fault; None: none was planned, or the profile is off, or nobody could tell."""
    agent_end: AgentEnd | None = None
    state_digest: str | None = None
    """The digest of the case's state at the end; None: the world could not be asked."""
    journal_rows: int = 0
    redacted: dict[str, int] | None = None
    """Name of a secret -> how often it was taken out of this line, before texts were cut; None: nothing was."""
    started_at: str
    """RFC 3339 UTC, wall clock of the machine that ran it."""
    duration_ms: int
