"""A run directory that will not be sealed: removed before the first attempt, else kept with abort.json."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from contracts import evidence
from contracts.errors import LabError
from contracts.record import Record
from driver import clock
from driver.interrupts import Interrupted
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory


class Abort(Record):
    """abort.json: how far an interrupted run got."""

    schema_version: Literal[1] = 1
    reason: str
    aborted_at: str
    planned_cases: int


@dataclass
class Reached:
    """How far the run got."""

    attempts_began: bool = False


@contextmanager
def leave_unsealed(run: RunDirectory, *, planned: int, redactor: Redactor) -> Iterator[Reached]:
    """Within: the run is written. On any error it stays without COMPLETE, or is removed if no attempt began."""
    reached = Reached()
    try:
        yield reached
    except BaseException as error:
        if not reached.attempts_began:
            run.discard()
            raise
        _keep(run, error, planned=planned, redactor=redactor)
        raise
    finally:
        run.close()


def _keep(run: RunDirectory, error: BaseException, *, planned: int, redactor: Redactor) -> None:
    is_sealed = (run.path / evidence.COMPLETE).exists()  # a signal may come after the last write
    if isinstance(error, LabError | Interrupted):
        error.kept = f"{run.path} ({'sealed' if is_sealed else 'unsealed: it is never graded'})"
    if is_sealed:
        return
    abort = Abort(
        reason=str(error.args[0]) if error.args else type(error).__name__,
        aborted_at=clock.instant(clock.now()),
        planned_cases=planned,
    )
    try:
        run.write_record(evidence.ABORT, redactor.writing(evidence.ABORT, may_be_cut=True).redact_record(abort))
    except LabError as second:
        # the disk that failed the run may fail this as well; the first error is the one to report
        error.add_note(f"abort.json could not be written either: {second.message}")
