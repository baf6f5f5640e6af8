"""The gate of `run --baseline`: the baseline is checked before anything starts, and compared before the seal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from comparison.compare import compare
from comparison.sides import Allowance, Side
from contracts import evidence
from contracts.comparison import Comparison
from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import PlannedCase
from driver.allowances import NO_TOLERANCE, allowance_of
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.run_reading import read_run
from driver.two_runs import require_common, verified_side
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory


@dataclass(frozen=True)
class Gate:
    """A verified baseline, and what may differ from it."""

    baseline: Side
    allowance: Allowance

    def require_common(self, run_id: str, cases: Sequence[PlannedCase]) -> None:
        """Raise NOTHING_IN_COMMON for a plan that shares no case with the baseline."""
        planned = {case.case_id: case for case in cases}
        require_common(self.baseline.plan.run_id, self.baseline.rows.index, run_id, planned)

    def pass_through(self, run: RunDirectory, *, redactor: Redactor) -> Comparison:
        """Compare a run that has every file but its seal, and write comparison.json into it.

        Raises:
            LabError: WRITE_FAILED; BUG for a run that cannot be read back.

        """
        read = read_run(run.path)
        if read is None or not read.follows:
            raise LabError(
                ErrorCode.BUG, f"{run.path} cannot be read back to compare it", kept=f"{run.path} (unsealed)"
            )
        candidate = Side(root=run.path, plan=read.plan.head, manifest=read.manifest, rows=read.rows)
        compared = compare(self.baseline, candidate, allowance=self.allowance)
        comparison = redactor.writing(evidence.COMPARISON).redact_record(compared)
        run.write_record(evidence.COMPARISON, comparison)
        return comparison


@contextmanager
def open_gate(request: RunRequest) -> Iterator[Gate | None]:
    """The gate that the flags ask for, for as long as an unpacked baseline is there; None without --baseline.

    Raises:
        LabError: BAD_USAGE for flags of the gate without --baseline; BAD_TOLERANCE, UNKNOWN_DRIFT; everything that
            `driver.two_runs.verified_side` raises.

    """
    if request.baseline is None:
        _refuse_idle_flags(request)
        yield None
        return
    path, refusals = request.baseline, Refusals()
    allowance = refusals.value_of(lambda: _allowance(request))
    with ExitStack() as kept:
        opened = verified_side(path, evidence_folder=request.evidence)
        baseline = refusals.value_of(lambda: kept.enter_context(opened))
        if allowance is None or baseline is None:
            raise refusals.as_one()
        yield Gate(baseline=baseline, allowance=allowance)


def _allowance(request: RunRequest) -> Allowance:
    return allowance_of(
        NO_TOLERANCE if request.regression_tolerance is None else request.regression_tolerance,
        drift=request.allow_drift,
        removed=request.allow_removed,
    )


def _refuse_idle_flags(request: RunRequest) -> None:
    idle = {
        "--regression-tolerance": request.regression_tolerance is not None,
        "--allow-drift": bool(request.allow_drift),
        "--allow-removed": request.allow_removed,
    }
    if any(idle.values()):
        raise LabError(
            ErrorCode.BAD_USAGE,
            "a comparison is meant, and no baseline is named",
            found=[Found("says what a comparison lets pass", place=flag) for flag, given in idle.items() if given],
            expected="--baseline RUN beside it",
        )
