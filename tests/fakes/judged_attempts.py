"""Attempts with statements that wait for a judge."""

from __future__ import annotations

from typing import Any

from contracts.attempt import AttemptRecord, Check, CheckType
from contracts.outcome import Outcome, OutcomeClass
from tests.fakes.assignments import DIGEST


def waiting(statement: str) -> Check:
    return Check(
        name=f"relevance {statement}", type=CheckType.RELEVANCE, outcome=Outcome.UNKNOWN, expected=statement, reason="x"
    )


def record_of(*checks: Check, case_id: str = "greets", **fields: Any) -> AttemptRecord:
    return AttemptRecord(
        **{
            "case_id": case_id,
            "title": "t",
            "protected": False,
            "case_digest": DIGEST,
            "attempt": 1,
            "repeat": 1,
            "outcome": Outcome.UNKNOWN,
            "outcome_class": OutcomeClass.JUDGE,
            "checks": checks,
            "trajectory_digest": DIGEST,
            "tool_calls": 0,
            "started_at": "2026-09-01T12:00:00Z",
            "duration_ms": 1,
            **fields,
        }
    )
