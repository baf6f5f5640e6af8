"""A run read for showing: also one that is unsealed or altered, with a line that says so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import Plan, PlannedCase
from driver.run_archive import no_run
from driver.run_names import run_directory_of, shown_as
from driver.verify import check_seal, is_sealed, require_run
from ledger.attempts_file import AttemptIndex, BadLineError

_MOST_NAMED = 20


@dataclass(frozen=True)
class ShownRun:
    """A readable run."""

    shown: Path
    """As the user named it."""
    root: Path
    plan: Plan
    attempts: AttemptIndex
    """Scanned."""
    note: str | None
    """Says that the run is unsealed or altered; None: its files are what was sealed."""

    def attempts_of(self, case_id: str) -> list[AttemptRecord]:
        """The finished attempts of a case."""
        return next(self.attempts.by_case([case_id]))


@contextmanager
def shown_run(path: Path) -> Iterator[ShownRun]:
    """Read plan and attempts of a run directory or an archive of one.

    Raises:
        LabError: NO_RUN for what is no run or has no readable plan, ALTERED for an unreadable line of attempts.

    """
    with run_directory_of(path) as root:
        shown = shown_as(path, root)
        require_run(root, shown=shown)
        note = seal_note(root, shown=shown)
        attempts = AttemptIndex(root / evidence.ATTEMPTS, drops_cut_end=not is_sealed(root))
        try:
            if (root / evidence.ATTEMPTS).is_file():
                for _ in attempts.scan():
                    pass
        except BadLineError as error:
            found = [Found(str(error), file=evidence.ATTEMPTS)]
            raise LabError(ErrorCode.ALTERED, f"{path} cannot be shown", found=found) from error
        yield ShownRun(shown=path, root=root, plan=_plan_of(root, path), attempts=attempts, note=note)


def planned_case(shown: ShownRun, case_id: str) -> PlannedCase:
    """The case as it was planned; raises LabError UNKNOWN_CASE."""
    for case in shown.plan.cases:
        if case.case_id == case_id:
            return case
    known = [case.case_id for case in shown.plan.cases[:_MOST_NAMED]]
    more = len(shown.plan.cases) - len(known)
    raise LabError(
        ErrorCode.UNKNOWN_CASE,
        f"{shown.shown} has no case {case_id!r}",
        found=[Found(case_id, place="--case")],
        expected=", ".join(known) + (f" and {more} more" if more else ""),
        next_step=f"labctl show {shlex.quote(str(shown.shown))}",
    )


def seal_note(root: Path, *, shown: Path) -> str | None:
    """One line for a run that is not what a seal says; None for a sealed and unchanged one."""
    try:
        check_seal(root, shown=shown)
    except LabError as error:
        if error.code is ErrorCode.UNSEALED:
            return "UNSEALED: this run was interrupted or made by hand; it is never graded"
        return f"ALTERED: this run is not what was sealed; next: labctl verify {shlex.quote(str(shown))}"
    return None


def _plan_of(root: Path, shown: Path) -> Plan:
    plan = root / evidence.PLAN
    if not plan.is_file():
        raise no_run(shown, "has no plan.json")
    try:
        return Plan.model_validate_json(plan.read_bytes())
    except ValidationError as error:
        raise no_run(shown, f"plan.json is no plan: {error.errors(include_url=False)[0]['msg']}") from error
