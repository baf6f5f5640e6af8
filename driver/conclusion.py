"""The end of a run: results, JUnit, manifest and README from what was collected, then the seal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from contracts import evidence
from contracts.manifest import Begun
from contracts.plan import Plan
from contracts.telemetry import Telemetry
from driver import clock
from driver.continuing import resumed_of
from driver.drafting import Draft
from driver.manifest import begun_here, manifest_of
from driver.ports import Stack
from driver.recorded import recorded_digests
from driver.run_files import list_run_files
from driver.run_readme import named_digests, run_readme
from driver.scratch import scratch_folder
from driver.seal import refuse_changed, seal
from ledger.grading import Grading, grade_run
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory
from ledger.session_files import write_session_files

if TYPE_CHECKING:
    from contracts.comparison import Comparison
    from driver.gate import Gate


@dataclass(frozen=True)
class Conclusion:
    """Everything that is known before the attempts are; `write` adds what follows from them."""

    begun: Begun

    @classmethod
    def prepare(cls, draft: Draft, begun: Begun | None) -> Self:
        """Read the run's surroundings, or take what they were when the run began."""
        return cls(begun or begun_here(draft.suite))

    def write(  # noqa: PLR0913 - what the run was made with, and what came of it
        self,
        run: RunDirectory,
        plan: Plan,
        *,
        stack: Stack,
        redactor: Redactor,
        gate: Gate | None,
        attempts: int,
        telemetry: Telemetry | None = None,
    ) -> tuple[Grading, Comparison | None]:
        """Write the last files, compare where there is a gate, and seal the run; raises LabError WRITE_FAILED.

        `attempts` are all that the evidence has, for a run that was gone on with.
        """
        plan = redactor.redact_record(plan)  # verify recomputes from the plan as it was written
        grading = grade_run(plan, run.path / evidence.ATTEMPTS)
        run.write_whole(evidence.RESULTS, grading.results_pieces())
        run.write_whole(evidence.JUNIT, grading.junit_pieces())
        with scratch_folder() as scratch:
            write_session_files(run, plan, suite=run.path / evidence.SUITE_FOLDER, scratch=scratch)
        manifest = manifest_of(
            plan,
            self.begun,
            finished_at=clock.now(),
            engine=stack.facts(),
            not_enforced=stack.not_enforced,
            resumed=(resumed := resumed_of(self.begun, attempts=attempts)),
            telemetry=telemetry,
        )
        sha256 = list_run_files(run.path).sha256
        refuse_changed(run, sha256)  # what is recorded here is as it was when the run began
        recorded = recorded_digests(sha256)  # names of files stand in COMPLETE as they are
        manifest = redactor.writing(evidence.ENVIRONMENT).redact_record(manifest)
        run.write_record(evidence.ENVIRONMENT, manifest.model_copy(update={"recorded": recorded}))
        comparison = gate.pass_through(run, redactor=redactor) if gate else None
        # last: it says what was taken out of the others
        readme = run_readme(plan, redactor=redactor, kept=stack.kept, resumed=resumed, digests=named_digests(run.path))
        run.write_whole(evidence.README, readme.encode())
        for unsealed in (evidence.ABORT, evidence.BEGUN):  # what they say that is still true, environment.json says
            run.remove(unsealed)
        seal(run)
        return grading, comparison
