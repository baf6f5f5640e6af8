"""Sides of a comparison from a few words: outcomes, calls, texts; written through the real ledger and read back."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from comparison.compare import compare
from comparison.sides import Allowance, Side
from contracts.attempt import AttemptRecord, TrajectoryCall
from contracts.canonical import digest_of_json
from contracts.comparison import Comparison
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import Plan
from driver.run_reading import read_run
from tests.fakes.written_runs import attempt_of, plan_of, write_run

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
_numbers = itertools.count()


def call(tool: str, status: int = 200, /, **arguments: Any) -> TrajectoryCall:
    """A call that the journal saw."""
    return TrajectoryCall(tool=tool, arguments=arguments, status=status, made=True, claimed=False, counts=True)


def done(plan: Plan, case_id: str, *calls: TrajectoryCall, **fields: Any) -> AttemptRecord:
    """An attempt with those calls, whose digest is theirs."""
    digest = digest_of_json([[one.tool, one.arguments, one.status] for one in calls if one.counts])
    fields = {"trajectory": calls, "trajectory_digest": digest, "tool_calls": len(calls), "journal_rows": 0, **fields}
    if fields.get("outcome") is Outcome.UNKNOWN:
        fields.setdefault("outcome_class", OutcomeClass.INFRASTRUCTURE)
    return attempt_of(plan, case_id, **fields)


def side_of(folder: Path, plan: Plan, *records: AttemptRecord) -> Side:
    """A run of those attempts, as a comparison sees it."""
    plan = plan.model_copy(update={"run_id": f"run-{next(_numbers)}"})
    run = write_run(folder, plan, records)
    run.close()
    read = read_run(run.path)
    assert read is not None
    assert read.follows
    return Side(root=run.path, plan=read.plan.head, manifest=read.manifest, rows=read.rows)


def outcomes_side(folder: Path, outcomes: Mapping[str, Outcome], **of_plan: Any) -> Side:
    """A run whose cases, the first of which is protected, had those outcomes."""
    plan = plan_of(*outcomes).model_copy(update=of_plan)
    return side_of(folder, plan, *(done(plan, name, outcome=outcome) for name, outcome in outcomes.items()))


def with_conditions(side: Side, **conditions: Any) -> Side:
    """The side under other conditions."""
    changed = side.manifest.conditions.model_copy(update=conditions)
    plan = side.plan.model_copy(update={"conditions": changed})
    return replace(side, plan=plan, manifest=side.manifest.model_copy(update={"conditions": changed}))


def with_manifest(side: Side, **fields: Any) -> Side:
    """The side with another manifest."""
    return replace(side, manifest=side.manifest.model_copy(update=fields))


def with_plan(side: Side, **fields: Any) -> Side:
    """The side with another plan."""
    return replace(side, plan=side.plan.model_copy(update=fields))


def compared(baseline: Side, candidate: Side, *drift: str, tolerance: str = "0", removed: bool = False) -> Comparison:
    """The comparison; `drift` is allowed."""
    allowance = Allowance(tolerance=Decimal(tolerance), drift=frozenset(drift), removed=removed)
    return compare(baseline, candidate, allowance=allowance)
