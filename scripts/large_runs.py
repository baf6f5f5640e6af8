"""Makes sealed runs of N trivial cases without running anything, for the benches of what reads runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from contracts import evidence
from contracts.attempt import AttemptRecord, Check, CheckType, Usage
from contracts.canonical import digest_of_bytes
from contracts.journal import JournalRow, Via
from contracts.manifest import CaseConditions, Dependencies, EnvironmentManifest, HostFacts, SourceFacts
from contracts.outcome import Outcome
from contracts.plan import AgentPlan, Conditions, Plan, PlannedCase
from contracts.suite.settings import Limits
from driver.recorded import recorded_digests
from driver.run_files import list_run_files
from driver.run_readme import named_digests, run_readme
from driver.seal import seal
from driver.version import VERSION
from ledger.grading import grade_run
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

_NO_CONTENT = digest_of_bytes(b"")
_AT = "2026-09-01T12:00:01.000Z"


def write_large_run(folder: Path, *, run_id: str, cases: int, failing: int, prompt: str) -> Path:
    """A sealed run, whose first `failing` cases failed; returns its directory."""
    run = RunDirectory.create(folder, run_id=run_id)
    plan = _plan(run_id, cases=cases, prompt=prompt)
    run.write_record(evidence.PLAN, plan)
    run.write_whole("suite/suite.toml", b'revision = "bench"\n')
    for name, lines in ((evidence.ATTEMPTS, _attempts(plan, failing)), (evidence.JOURNAL, _rows(plan))):
        with (run.path / name).open("w") as stream:
            stream.writelines(f"{line}\n" for line in lines)
    grading = grade_run(plan, run.path / evidence.ATTEMPTS)
    run.write_whole(evidence.RESULTS, grading.results_pieces())
    run.write_whole(evidence.JUNIT, grading.junit_pieces())
    run.write_whole(evidence.RUN_LOG, b"bench\n")
    recorded = recorded_digests(list_run_files(run.path).sha256)
    run.write_record(evidence.ENVIRONMENT, _manifest(plan).model_copy(update={"recorded": recorded}))
    run.write_whole(evidence.README, run_readme(plan, redactor=Redactor({}), digests=named_digests(run.path)).encode())
    seal(run)
    return run.path


def _plan(run_id: str, *, cases: int, prompt: str) -> Plan:
    names = [f"case-{number:06d}" for number in range(cases)]
    conditions = Conditions(
        dataset_revision="bench",
        dataset_digest=_NO_CONTENT,
        prompt_revision=prompt,
        prompt_digest=digest_of_bytes(prompt.encode()),
        tool_schema_revision="bench",
        tool_schema_digest=_NO_CONTENT,
        agent="bench",
        agent_digest=_NO_CONTENT,
        adapter="chat",
        seed=0,
        clock="2026-09-01T12:00:00Z",
        timezone="UTC",
        locale="C.UTF-8",
        backend="process",
        limits=Limits(),
    )
    return Plan(
        run_id=run_id,
        labctl=VERSION,
        command=("labctl", "run", "bench"),
        suite="bench",
        agent=AgentPlan(name="bench", adapter="chat", model="scripted/bench", digest=_NO_CONTENT),
        conditions=conditions,
        capture="metadata",
        concurrency=2,
        planned_at=_AT,
        cases=tuple(
            PlannedCase(case_id=name, title=name, protected=False, case_digest=digest_of_bytes(name.encode()))
            for name in names
        ),
    )


def _attempts(plan: Plan, failing: int) -> Iterator[str]:
    for number, case in enumerate(plan.cases):
        outcome = Outcome.FAIL if number < failing else Outcome.PASS
        said = "The capital is Lyon." if number < failing else "The capital is Paris."
        check = Check(name="contains", type=CheckType.ASSERTION, outcome=outcome, expected="Paris", actual=said)
        yield AttemptRecord(
            case_id=case.case_id,
            title=case.title,
            protected=case.protected,
            case_digest=case.case_digest,
            attempt=1,
            repeat=1,
            outcome=outcome,
            reason="contains: does not hold" if outcome is Outcome.FAIL else None,
            checks=(check,),
            trajectory_digest=_NO_CONTENT,
            tool_calls=0,
            texts=(said,),
            usage=Usage(model_calls=1),
            state_digest=_NO_CONTENT,
            journal_rows=1,
            started_at=_AT,
            duration_ms=3,
        ).to_line()


def _rows(plan: Plan) -> Iterator[str]:
    for case in plan.cases:
        yield JournalRow(
            case=case.case_id,
            attempt=1,
            sequence=1,
            method="POST",
            path="/v1/chat/completions",
            request_digest=case.case_digest,
            route="model:bench#0",
            via=Via.MODEL,
            status=200,
            response_digest=_NO_CONTENT,
            delay_ms=0,
        ).to_line()


def _manifest(plan: Plan) -> EnvironmentManifest:
    return EnvironmentManifest(
        run_id=plan.run_id,
        command=plan.command,
        started_at=plan.planned_at,
        finished_at=plan.planned_at,
        conditions=plan.conditions,
        dependencies=Dependencies(),
        host=HostFacts(os="bench", kernel="bench", arch="bench", cpus=2, python="3"),
        source=SourceFacts(),
        cases={case.case_id: CaseConditions.of(plan.conditions, case) for case in plan.cases},
    )
