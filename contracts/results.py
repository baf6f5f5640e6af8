"""results.json: totals that are recomputed from the rows."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contracts.attempt import Check, FaultWitness, Usage
from contracts.outcome import Outcome, OutcomeClass
from contracts.record import Record


class AttemptResult(Record):
    """One attempt as results.json shows it."""

    attempt: int
    repeat: int
    retry_of: int | None = None
    outcome: Outcome
    outcome_class: OutcomeClass | None = Field(default=None, alias="class")
    reason: str | None = None
    checks: tuple[Check, ...] = ()
    tool_calls: int
    duration_ms: int
    usage: Usage
    faults: tuple[FaultWitness, ...] | None = None
    """As the attempt's line has them."""


class CaseResult(Record):
    """One case; merged over its repeats, whose outcome is their last try's."""

    case_id: str
    title: str
    protected: bool
    outcome: Outcome
    flaky: bool
    """Its tries or repeats do not agree."""
    attempts: tuple[AttemptResult, ...] = ()


class Summary(Record):
    """Counts of cases; `passRate` is the interval that the unknown ones leave open."""

    planned: int
    passed: int
    failed: int
    unknown: int
    pass_rate: tuple[float, float]


class Metrics(Record):
    """Aggregates, each absent when nothing measured it."""

    tool_f1_mean: float | None = Field(default=None, alias="toolF1Mean")
    size_pass_rate: float | None = None
    relevance_rate: float | None = None
    assertion_rate: float | None = None
    failure_rate: float | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None


class Results(Record):
    """results.json, a pure function of plan.json and traces/attempts.jsonl."""

    schema_version: Literal[1] = 1
    run_id: str
    summary: Summary
    metrics: Metrics
    cases: tuple[CaseResult, ...]
