"""A run that is gone on with: what it has finished, and how its directory is opened again for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts.manifest import Begun, Resumed
from contracts.plan import Plan
from contracts.tries import next_tries
from ledger.kept_attempts import KeptAttempts
from ledger.redaction import Redactor
from ledger.redaction_marks import count_kept_marks
from ledger.run_directory import RunDirectory
from ledger.run_lock import RunLock


@dataclass(frozen=True)
class Continued:
    """An unsealed run that may be gone on with."""

    path: Path
    lock: RunLock
    kept: KeptAttempts
    begun: Begun
    """With the part that begins now."""

    def open(self, run_id: str) -> RunDirectory:
        """The run directory, to write on; raises LabError WRITE_FAILED."""
        return RunDirectory.open_existing(self.path, run_id=run_id, lock=self.lock)

    def begin(self, run: RunDirectory, *, redactor: Redactor) -> None:
        """Take away what the kill left of attempts that were not finished, and write down that this part begins.

        What was taken out of the rest counts as if the redactor had done it.
        """
        run.cut(evidence.JOURNAL, size=self.kept.journal_bytes)
        count_kept_marks(run.path, redactor.counts, of_attempts=self.kept.redacted)
        run.inputs.update(self.begun.inputs)
        write_begun(run, self.begun, redactor=redactor)
        part = self.begun.resumed[-1]
        run.append(evidence.RUN_LOG, f"labctl | resumed at {part.resumed_at}: {part.kept_attempts} attempts are kept")

    def has_more(self, plan: Plan) -> bool:
        """Whether an attempt is still to be made."""
        return next(next_tries(plan, self.kept.last_tries), None) is not None


def write_begun(run: RunDirectory, begun: Begun, *, redactor: Redactor) -> None:
    """Write down how the run began, with the inputs as they stand: names of files and digests as they are."""
    redacted = redactor.redact_record(begun.model_copy(update={"inputs": {}}))
    run.write_record(evidence.BEGUN, redacted.model_copy(update={"inputs": dict(run.inputs)}))


def resumed_of(begun: Begun, *, attempts: int) -> Resumed | None:
    """What environment.json says of the parts; `attempts` are all that the evidence has. None: there is one part."""
    if not begun.resumed:
        return None
    kept = begun.resumed[0].kept_attempts
    return Resumed(kept_attempts=kept, ran_attempts=attempts - kept, parts=begun.resumed)
