"""Is a run sealed, whole and unchanged, and do its results follow from its attempts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import Plan
from driver.run_archive import no_run, run_directory_of
from driver.run_files import RunFiles, file_problem, list_run_files
from driver.seal import REQUIRED_FILES, seal_text
from driver.seal_differences import run_id_in, seal_differences
from driver.version import VERSION
from ledger.following import what_does_not_follow

_ANY_RUN = (evidence.COMPLETE, *REQUIRED_FILES)
_MOST_FOUND = 40
_SEAL_SLACK_BYTES = 1 << 20


@dataclass(frozen=True)
class Verified:
    """A run that is what was sealed."""

    path: Path
    plan: Plan
    files: int
    """Without COMPLETE."""

    @property
    def cases(self) -> int:
        """How many cases were planned."""
        return len(self.plan.cases)


def verify_run(path: Path) -> Verified:
    """Check the seal of a run directory or an archive of one, then recompute what follows from plan and attempts.

    Raises:
        LabError: NO_RUN for a path that is no run, UNSEALED, ALTERED naming every file, RESULTS_DIVERGE naming what
            does not follow although the seal is right: a forgery, or a run of another version of labctl.

    """
    with run_directory_of(path) as root:
        plan, files = check_seal(root, shown=path)
        if found := what_does_not_follow(plan, root):
            raise LabError(
                ErrorCode.RESULTS_DIVERGE,
                f"{path} is sealed, but its results do not follow from its plan and attempts",
                found=_bounded(found),
                cause=_other_version(plan),
            )
    return Verified(path=path, plan=plan, files=files)


def check_seal(root: Path, *, shown: Path) -> tuple[Plan, int]:
    """The plan and the number of files of a run directory whose files are exactly those that were sealed.

    `shown` is how the user named the run.

    Raises:
        LabError: NO_RUN, UNSEALED, ALTERED.

    """
    require_run(root, shown=shown)
    if not is_sealed(root):
        raise LabError(
            ErrorCode.UNSEALED,
            f"{shown} has no COMPLETE",
            cause="the run was interrupted, or made by hand",
            next_step="run the suite again with `labctl run`",
        )
    listed = list_run_files(root)
    plan = _plan_of(root, listed)
    found = [*listed.problems, *_seal_problems(root, listed, plan)]
    found += [Found("is missing; every run has it", name) for name in REQUIRED_FILES if name not in listed.sha256]
    if isinstance(plan, Found):
        found.append(plan)
    if found or isinstance(plan, Found):
        raise LabError(ErrorCode.ALTERED, f"{shown} is not what was sealed", found=_bounded(_first_of_each_file(found)))
    return plan, len(listed.sha256)


def is_sealed(root: Path) -> bool:
    """Whether anything is named COMPLETE there; says nothing about what it seals."""
    return os.path.lexists(root / evidence.COMPLETE)


def require_run(root: Path, *, shown: Path) -> None:
    """Raise LabError NO_RUN unless the directory holds a file of a run."""
    if not any(os.path.lexists(root / name) for name in _ANY_RUN):
        raise no_run(shown, "holds no file of a run")


def _seal_problems(path: Path, listed: RunFiles, plan: Plan | Found) -> list[Found]:
    """How COMPLETE differs from the one spelling that the files have."""
    complete = path / evidence.COMPLETE
    if problem := file_problem(complete.lstat()):
        return [Found(problem, file=evidence.COMPLETE)]
    try:
        with complete.open("rb") as stream:
            longest = sum(len(name.encode()) + 70 for name in listed.sha256) + _SEAL_SLACK_BYTES
            sealed = stream.read(longest)
    except OSError as error:
        return [Found(f"cannot be read: {error.strerror}", file=evidence.COMPLETE)]
    run_id = plan.run_id if isinstance(plan, Plan) else run_id_in(sealed)
    expected = seal_text(listed.sha256, run_id=run_id)
    return [] if sealed == expected else seal_differences(sealed, expected, files=listed.sha256)


def _plan_of(path: Path, listed: RunFiles) -> Plan | Found:
    if evidence.PLAN not in listed.sha256:  # nothing is opened that may be no plain file
        return Found("is missing", file=evidence.PLAN)
    try:
        return Plan.model_validate_json((path / evidence.PLAN).read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return Found(first["msg"], file=evidence.PLAN, place=".".join(map(str, first["loc"])) or None)


def _first_of_each_file(found: list[Found]) -> list[Found]:
    """One problem explains a file; what else is wrong with it follows from that."""
    first: dict[str | None, Found] = {}
    for problem in found:
        first.setdefault(problem.file, problem)
    return list(first.values())


def _bounded(found: list[Found]) -> list[Found]:
    rest = len(found) - _MOST_FOUND
    return found if rest <= 0 else [*found[:_MOST_FOUND], Found(f"and {rest} more")]


def _other_version(plan: Plan) -> str | None:
    return None if plan.labctl == VERSION else f"the run was written by labctl {plan.labctl}; this is {VERSION}"
