"""Runs written through the real ledger, seal included, without any process: for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from contracts import evidence
from contracts.attempt import AttemptRecord, Check, CheckType, TrajectoryCall
from contracts.journal import JournalRow, Via
from contracts.manifest import SHARING, CaseConditions, Dependencies, EnvironmentManifest, HostFacts, SourceFacts
from contracts.outcome import Outcome
from contracts.plan import AgentPlan, Capture, Conditions, Plan, PlannedCase
from contracts.suite.settings import Limits
from contracts.verdict import by_checks
from driver.recorded import recorded_digests
from driver.run_files import list_run_files
from driver.run_readme import named_digests, run_readme
from driver.seal import seal, seal_text
from driver.version import VERSION
from ledger.grading import grade_run
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

DIGEST = "sha256:" + "0" * 64
RUN_ID = "run-2026-09-01-120000-0a1b2c"


def plan_of(*case_ids: str, repeats: int = 1, capture: Capture = "metadata") -> Plan:
    """A plan of cases whose first one is protected."""
    conditions = Conditions(
        dataset_revision="fixtures-1",
        dataset_digest=DIGEST,
        tool_schema_revision="tools-1",
        tool_schema_digest=DIGEST,
        agent="support",
        agent_digest=DIGEST,
        adapter="chat",
        seed=1701,
        clock="2026-09-01T12:00:00Z",
        timezone="UTC",
        locale="C.UTF-8",
        backend="process",
        limits=Limits(),
    )
    cases = tuple(
        PlannedCase(
            case_id=case_id, title=f"About {case_id}", protected=number == 0, case_digest=DIGEST, repeats=repeats
        )
        for number, case_id in enumerate(case_ids)
    )
    return Plan(
        run_id=RUN_ID,
        labctl=VERSION,
        command=("labctl", "run", "fixtures"),
        suite="fixtures",
        agent=AgentPlan(name="support", adapter="chat", model="scripted/support", digest=DIGEST),
        conditions=conditions,
        capture=capture,
        concurrency=2,
        planned_at="2026-09-01T12:00:00.000Z",
        cases=cases,
    )


def attempt_of(plan: Plan, case_id: str, *, outcome: Outcome = Outcome.PASS, **fields: Any) -> AttemptRecord:
    """An attempt of a planned case with two calls and one assertion of that outcome; `fields` replace any of it.

    A verdict of the checks has the reason that they give, unless `fields` say otherwise.
    """
    case = next(case for case in plan.cases if case.case_id == case_id)
    call = TrajectoryCall(
        tool="lookup_order", arguments={"order_id": "synthetic-42"}, status=200, made=True, claimed=False, counts=True
    )
    check = Check(name="says so", type=CheckType.ASSERTION, outcome=outcome, expected="refunded", actual="no idea")
    record = AttemptRecord(
        case_id=case_id,
        title=case.title,
        protected=case.protected,
        case_digest=case.case_digest,
        attempt=1,
        repeat=1,
        outcome=outcome,
        checks=(check,),
        trajectory=(call, call),
        trajectory_digest=DIGEST,
        tool_calls=2,
        texts=("The refund has been issued.",),
        journal_rows=2,
        started_at="2026-09-01T12:00:01.000Z",
        duration_ms=120,
    )
    made = record.model_copy(update=fields)
    if made.outcome_class is None and "reason" not in fields and made.outcome is not Outcome.PASS:
        made = made.model_copy(update={"reason": by_checks(made.checks).reason})
    return made


def rows_of(record: AttemptRecord) -> list[JournalRow]:
    """As many journal rows as the record says."""
    return [
        JournalRow(
            case=record.case_id,
            attempt=record.attempt,
            sequence=number,
            method="GET",
            path="/orders/synthetic-42",
            request_digest=DIGEST,
            route="get-order",
            tool="lookup_order",
            via=Via.HTTP,
            status=200,
            response_digest=DIGEST,
            fault=None,
            delay_ms=0,
        )
        for number in range(1, record.journal_rows + 1)
    ]


def write_run(folder: Path, plan: Plan, records: Iterable[AttemptRecord]) -> RunDirectory:
    """Everything of a run but its seal."""
    run = RunDirectory.create(folder, run_id=plan.run_id)
    run.write_record(evidence.PLAN, plan)
    run.write_whole("suite/cases.json", b'{"cases": []}\n')
    run.write_whole("suite/prompts/v6.md", b"Be kind.\n")
    for record in records:
        for row in rows_of(record):
            run.append(evidence.JOURNAL, row.to_line())
        run.append(evidence.ATTEMPTS, record.to_line())
    run.append(evidence.RUN_LOG, "runner | done")
    grading = grade_run(plan, run.path / evidence.ATTEMPTS)
    run.write_whole(evidence.RESULTS, grading.results_pieces())
    run.write_whole(evidence.JUNIT, grading.junit_pieces())
    write_manifest(run, plan)
    return run


def sealed_run(folder: Path, plan: Plan | None = None, records: Iterable[AttemptRecord] | None = None) -> Path:
    """A sealed run; by default of two cases, the second of which failed."""
    if plan is None:
        plan = plan_of("approval", "recovery")
    if records is None:
        records = [attempt_of(plan, "approval"), attempt_of(plan, "recovery", outcome=Outcome.FAIL)]
    run = write_run(folder, plan, records)
    seal(run)
    return run.path


def write_manifest(run: RunDirectory, plan: Plan) -> None:
    """The manifest of what the run holds by now, and the README of that; once more after a change to suite/."""
    recorded = recorded_digests(list_run_files(run.path).sha256)
    run.write_record(evidence.ENVIRONMENT, manifest_of_plan(plan).model_copy(update={"recorded": recorded}))
    run.write_whole(evidence.README, run_readme(plan, redactor=Redactor({}), digests=named_digests(run.path)).encode())


def seal_again(path: Path) -> None:
    """What a forger does after an edit: a correct COMPLETE for the files as they are now."""
    (path / evidence.COMPLETE).write_bytes(seal_text(list_run_files(path).sha256, run_id=RUN_ID))


def manifest_of_plan(plan: Plan) -> EnvironmentManifest:
    """The manifest of a made-up machine."""
    conditions = plan.conditions
    return EnvironmentManifest(
        run_id=plan.run_id,
        command=plan.command,
        started_at=plan.planned_at,
        finished_at="2026-09-01T12:00:05.000Z",
        sharing=SHARING if plan.capture == "payloads" else None,
        conditions=conditions,
        dependencies=Dependencies(),
        host=HostFacts(os="Test", kernel="Linux 6", arch="x86_64", cpus=2, python="3.11.0"),
        source=SourceFacts(),
        cases={case.case_id: CaseConditions.of(conditions, case) for case in plan.cases},
    )
