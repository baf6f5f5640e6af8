"""The end of a run: results, JUnit, manifest and README from what was collected, then the seal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from contracts import evidence
from contracts.plan import Plan
from contracts.suite.case import Case
from contracts.telemetry import Telemetry
from driver import clock
from driver.drafting import Draft
from driver.manifest import Surroundings, manifest_of, surroundings_of
from driver.ports import Stack
from driver.run_readme import run_readme
from driver.seal import seal
from ledger.grading import Grading, grade_run
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory


@dataclass(frozen=True)
class Conclusion:
    """Everything that is known before the attempts are; `write` adds what follows from them."""

    surroundings: Surroundings
    sessions: tuple[Case, ...] = ()
    """The cases that are docker-agent sessions."""

    @classmethod
    def prepare(cls, draft: Draft) -> Self:
        """Read the run's surroundings."""
        locks = [draft.suite.root / name for name in draft.suite.settings.lock_files]
        sessions = tuple(case for case in draft.cases if case.id in draft.suite.sessions)
        return cls(surroundings_of(draft.suite.root, lock_files=locks), sessions)

    def write(
        self, run: RunDirectory, plan: Plan, *, stack: Stack, redactor: Redactor, telemetry: Telemetry | None = None
    ) -> Grading:
        """Write the last files and seal the run; raises LabError WRITE_FAILED."""
        plan = redactor.redact_record(plan)  # verify recomputes from the plan as it was written
        grading = grade_run(plan, run.path / evidence.ATTEMPTS)
        run.write_whole(evidence.RESULTS, grading.results_pieces())
        run.write_whole(evidence.JUNIT, grading.junit_pieces())
        if self.sessions:
            from driver.session_output import write_session_files  # noqa: PLC0415 - most runs need no SQLite

            write_session_files(run, plan, sessions=[redactor.redact_record(case) for case in self.sessions])
        manifest = manifest_of(
            plan,
            self.surroundings,
            finished_at=clock.now(),
            engine=stack.facts(),
            not_enforced=stack.not_enforced,
            telemetry=telemetry,
        )
        run.write_record(evidence.ENVIRONMENT, redactor.redact_record(manifest))
        readme = run_readme(plan, redacted=redactor.names, not_redactable=redactor.too_short, kept=stack.kept)
        run.write_whole(evidence.README, readme.encode())
        seal(run)
        return grading
