"""comparison.json: what changed between two sealed runs, after what changed around them (CONTRACT §8)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.attempt import CheckType
from contracts.exits import Exit
from contracts.outcome import Outcome
from contracts.record import Json, Record
from contracts.results import Summary


class Verdict(StrEnum):
    """What CI may trust."""

    NO_REGRESSION = "no-regression"
    REGRESSION = "regression"
    CANNOT_TELL = "cannot-tell"

    @property
    def exit_code(self) -> Exit:
        """The exit status that says the same."""
        return {"no-regression": Exit.YES, "regression": Exit.NO, "cannot-tell": Exit.CANNOT_TELL}[self.value]


class Difference(Record):
    """One KEY of CONTRACT §8 whose values differ; an absent value is one that the side does not record."""

    key: str
    baseline: Json = None
    candidate: Json = None
    """Of an object only the members that differ."""
    file: str
    """Of both run directories: where the values stand."""
    pointer: str
    """JSON pointer in that file."""
    label_reused: bool = False
    """Both sides have the same label for other content."""
    allowed: bool = False
    """Drift that `--allow-drift` named."""


class Answer(Record):
    """What a request was answered, and where the journal says so."""

    status: int
    response_digest: str
    fault: str | None = None
    line: int
    """Of journal.jsonl, from 1."""


class ToolResponse(Record):
    """An equal request of a case that got unequal answers."""

    case_id: str
    repeat: int
    method: str
    path: str
    tool: str | None = None
    request_digest: str
    occurrence: int
    """From 1: which of the equal requests of the attempt."""
    baseline: Answer
    candidate: Answer
    same_requests_before: bool
    """True: nothing that the agent asked before could have caused it, so the world itself was another."""
    file: str


class FlippedCheck(Record):
    """A check that does not say what it said; `was` or `now` is absent where a side has no such check."""

    name: str
    type: CheckType
    was: Outcome | None = None
    now: Outcome | None = None
    expected: Json = None
    baseline_actual: Json = None
    actual: Json = None
    """The candidate's."""
    reason: str | None = None
    """Of the side that did not pass; the candidate's where both did not."""


class Divergence(Record):
    """Where the trajectories of two attempts part first."""

    repeat: int
    kind: Literal["tool", "argument", "status", "claim", "extra-call", "missing-call", "text", "end", "not-run"]
    turn: int | None = None
    """From 1: the place of the call in the trajectory, or of the text among the texts."""
    tool: str | None = None
    """The candidate's tool; the baseline's where the candidate made no call there."""
    pointer: str | None = None
    """JSON pointer of the argument; the empty text is all arguments together."""
    baseline: Json = None
    candidate: Json = None
    """As far as the capture level of both runs has it."""
    file: str
    baseline_line: int | None = None
    candidate_line: int | None = None
    """Of that file, from 1; absent where a side has no attempt."""


class CaseChange(Record):
    """One case that is not what it was."""

    case_id: str
    title: str
    protected: bool
    kind: Literal["regressed", "improved", "unknown", "changed", "added", "removed"]
    was: Outcome | None = None
    """Absent: the baseline does not have the case."""
    now: Outcome | None = None
    gates: bool
    """It is a reason of the verdict."""
    reason: str
    checks: tuple[FlippedCheck, ...] = ()
    divergence: Divergence | None = None


class MetricDelta(Record):
    """One metric of results.json on both sides, each over its own cases without those that are not selected."""

    name: str
    baseline: float | None = None
    candidate: float | None = None
    delta: float | None = None
    state: Literal["compared", "new", "gone"]
    gates: bool
    """False for cost and time, which are reported only."""
    regressed: bool
    """It got worse by more than the tolerance, and not only because cases were removed."""


class RepeatMeans(Record):
    """Means over the cases of one side whose repeats could all be told."""

    repeats: int
    told: int
    untold: int
    flaky: int
    pass_at_1: float | None = Field(default=None, alias="passAt1")
    pass_at_k: float | None = None
    """At least one of the repeats passes."""
    pass_hat_k: float | None = None
    """All of the repeats pass."""


class Clustered(Record):
    """The mean change of a case's share of passing repeats; cases, not repeats, are what is independent."""

    cases: int
    difference: float
    low: float
    high: float


class Statistics(Record):
    """What chance says of the flips; it informs and never overrules an outcome."""

    paired: int
    """Cases that both sides could tell and whose definition is the same."""
    regressions: int
    improvements: int
    exact_p: float
    mid_p: float
    """McNemar's test of the flips."""
    difference: float
    """Of the pass rates over the paired cases, candidate minus baseline."""
    low: float
    high: float
    """Bonett and Price's interval of it, at 95 %."""
    minimum_detectable_effect: float
    """The change of the pass rate that so many pairs would show with a chance of 80 %."""
    clustered: Clustered | None = None
    sentences: tuple[str, ...]


class Sides(Record):
    """The same of both runs."""

    baseline: Summary
    candidate: Summary


class RepeatSides(Record):
    """What the repeats of both runs say; a side without repeats has none."""

    baseline: RepeatMeans | None = None
    candidate: RepeatMeans | None = None


class Comparison(Record):
    """comparison.json; the same inputs give the same bytes."""

    schema_version: Literal[1] = 1
    baseline: str
    candidate: str
    """Labels of the first subject that differs, else run ids."""
    baseline_run: str
    candidate_run: str
    dataset: str
    """The label of routes and state; where the two differ, the candidate's."""
    verdict: Verdict
    reasons: tuple[str, ...]
    """In order of weight: drift, regressions, rates, what cannot be told, then remarks."""
    comparable: bool
    """False: the world drifted and that was not allowed; no difference between the cases is called behaviour."""
    cases_regressed: tuple[str, ...]
    cases_improved: tuple[str, ...]
    unknown: tuple[str, ...]
    """Cases that one side could not tell, whose definition changed, or, where the runs are not comparable, that
    differ."""
    changed: tuple[str, ...]
    """The same outcome, other checks or another trajectory."""
    cases_added: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    not_selected: tuple[str, ...]
    """Left out by --case or --only on one side."""
    subject: tuple[Difference, ...]
    drift: tuple[Difference, ...]
    context: tuple[Difference, ...]
    tool_responses: tuple[ToolResponse, ...]
    metrics: tuple[MetricDelta, ...]
    summary: Sides
    repeats: RepeatSides | None = None
    """Absent: neither run repeats its cases."""
    statistics: Statistics | None = None
    """Absent: not comparable, or no paired case could be told."""
    tolerance: float
    allowed_drift: tuple[str, ...]
    allow_removed: bool
    cases: tuple[CaseChange, ...]
    """Every case of the lists above but notSelected, gravest first, protected first in each kind."""
    left_out: dict[str, int]
    """Name of a list -> how many more there are than it holds, where it is cut."""
