"""Is a run sealed, whole and unchanged, and do its results follow from its attempts."""

from __future__ import annotations

import json
import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from contracts.manifest import EnvironmentManifest
from contracts.plan import Plan
from driver.recorded import recorded_problems
from driver.run_archive import no_run
from driver.run_files import RunFiles, file_problem, name_run_files, read_run_files
from driver.run_names import run_directory_of, shown_as
from driver.run_reading import RunRead, read_run
from driver.run_readme import readme_problems
from driver.seal import REQUIRED_FILES, seal_text
from driver.seal_differences import names_in, run_id_in, seal_differences
from driver.unsealed_files import AGAIN, is_resumable
from driver.version import VERSION
from ledger.manifest_file import read_manifest
from ledger.plan_file import PlanFile, read_plan
from ledger.run_rows import RunRows

_ANY_RUN = (evidence.COMPLETE, *REQUIRED_FILES)
_MOST_FOUND = 40
_SEAL_SLACK_BYTES = 1 << 20
_LONGEST_SEAL_BYTES = 64 << 20
"""Of COMPLETE: more lines than any run has files."""
_SCHEMA = 1


_SESSION_FILES = (evidence.SESSIONS_JSON, evidence.SESSIONS_DB)
_NO_SESSIONS = frozenset(f"{evidence.SUITE_FOLDER}/{name}.json" for name in ("cases", "routes", "tools", "state"))


@dataclass(frozen=True)
class Verified:
    """A run that is what was sealed."""

    path: Path
    """As the user named it."""
    root: Path
    """The run directory; of an archive a temporary one."""
    plan: Plan
    """Without its cases, which are in the rows."""
    manifest: EnvironmentManifest
    """Likewise."""
    rows: RunRows
    files: int
    """Without COMPLETE."""

    @property
    def cases(self) -> int:
        """How many cases were planned."""
        return len(self.rows.cases)


def verify_run(path: Path) -> Verified:
    """Check the seal of a run directory or an archive of one, then recompute what follows from plan and attempts.

    The root of an archive is gone when this returns.

    Raises:
        LabError: as `verify_directory` does; what `driver.run_names.run_directory_of` raises.

    """
    with run_directory_of(path) as root:
        return verify_directory(root, shown=shown_as(path, root))


def verify_directory(root: Path, *, shown: Path) -> Verified:
    """The same for a run directory; `shown` is how the user named the run.

    Raises:
        LabError: NO_RUN for a path that is no run, UNSEALED, ALTERED naming every file, OTHER_SCHEMA, RESULTS_DIVERGE
            naming what does not follow although the seal is right: a forgery, or a run of another version of labctl.

    """
    with ThreadPoolExecutor(1, "seal") as background:
        require_run(root, shown=shown)
        _require_seal(root, shown=shown)
        named, sealed = name_run_files(root), _sealed_names(root)
        # a second core hashes while this one reads; neither reads what no seal lists, which may be of any size
        listing = background.submit(read_run_files, root, named, only=sealed)
        read = read_run(root) if not named.problems and named.sha256.keys() <= sealed else None
        listed = listing.result()
    plan = _checked(root, listed, _plan_of(root, listed) if read is None else read.plan, shown=shown)
    is_told = read is not None and read.follows and not _may_have_sessions(listed)
    found = _record_problems(root, plan, listed, read)
    if not is_told:
        found += _what_does_not_follow(root, is_own=plan.head.labctl == VERSION)
    if read is None or found:
        raise _diverging(plan.head, found, shown=shown)
    return Verified(
        path=shown, root=root, plan=plan.head, manifest=read.manifest, rows=read.rows, files=len(listed.sha256)
    )


def check_seal(root: Path, *, shown: Path) -> None:
    """Raise unless the files of a run directory are exactly those that were sealed.

    Raises:
        LabError: NO_RUN, UNSEALED, ALTERED, OTHER_SCHEMA.

    """
    require_run(root, shown=shown)
    _require_seal(root, shown=shown)
    listed = read_run_files(root, name_run_files(root), only=_sealed_names(root))
    _checked(root, listed, _plan_of(root, listed), shown=shown)


def _record_problems(root: Path, plan: PlanFile, listed: RunFiles, read: RunRead | None) -> list[Found]:
    """What environment.json and README.md name otherwise; another version of labctl has other words."""
    is_own = plan.head.labctl == VERSION
    found: list[Found] = []
    manifest = _manifest_of(root) if read is None else read.manifest
    if manifest is not None and (is_own or manifest.recorded):
        found += recorded_problems(manifest, listed.sha256)
    if is_own:
        found += readme_problems((root / evidence.README).read_bytes(), plan.head, plan.cases, sha256=listed.sha256)
    return found


def _manifest_of(root: Path) -> EnvironmentManifest | None:
    """None for none, which `what_does_not_follow` tells."""
    try:
        return read_manifest(root / evidence.ENVIRONMENT).head
    except ValidationError:
        return None


def _may_have_sessions(listed: RunFiles) -> bool:
    """False for a run whose cases are surely none of docker-agent's: then no session file can be missing."""
    return any(name in _SESSION_FILES or _may_be_session(name) for name in listed.sha256)


def _may_be_session(name: str) -> bool:
    is_json = name.startswith(f"{evidence.SUITE_FOLDER}/") and name.endswith(".json")
    return is_json and name not in _NO_SESSIONS and not name.startswith(f"{evidence.SUITE_FOLDER}/models/")


def _what_does_not_follow(root: Path, *, is_own: bool) -> list[Found]:
    from ledger.following import what_does_not_follow  # noqa: PLC0415 - reads suites, which most runs do not need

    plan = Plan.model_validate_json((root / evidence.PLAN).read_bytes())
    return what_does_not_follow(plan, root, is_spelled_as_here=is_own)


def _diverging(plan: Plan, found: list[Found], *, shown: Path) -> LabError:
    return LabError(
        ErrorCode.RESULTS_DIVERGE,
        f"{shown} is sealed, but its results do not follow from its plan and attempts",
        found=_bounded(found),
        cause=_other_version(plan),
    )


def is_sealed(root: Path) -> bool:
    """Whether anything is named COMPLETE there; says nothing about what it seals."""
    return os.path.lexists(root / evidence.COMPLETE)


def require_run(root: Path, *, shown: Path) -> None:
    """Raise LabError NO_RUN unless the directory holds a file of a run."""
    if not any(os.path.lexists(root / name) for name in _ANY_RUN):
        raise no_run(shown, "holds no file of a run")


def _require_seal(root: Path, *, shown: Path) -> None:
    if not is_sealed(root):
        raise LabError(
            ErrorCode.UNSEALED,
            f"{shown} has no COMPLETE",
            cause="the run was interrupted, or made by hand",
            next_step=f"labctl resume {shlex.quote(str(shown))}, which finishes a run that labctl began; or {AGAIN}"
            if is_resumable(root)
            else AGAIN,
        )


def _checked(root: Path, listed: RunFiles, plan: PlanFile | Found, *, shown: Path) -> PlanFile:
    """The plan of a run whose files are those of its seal; raises ALTERED or OTHER_SCHEMA."""
    found = [*listed.problems, *_seal_problems(root, listed, plan)]
    found += [Found("is missing; every run has it", name) for name in REQUIRED_FILES if name not in listed.sha256]
    found += _suite_problems(listed, plan)
    if not found and isinstance(plan, Found):
        _refuse_other_schema(root, shown=shown)
    if isinstance(plan, Found):
        found.append(plan)
    if found or isinstance(plan, Found):
        raise LabError(ErrorCode.ALTERED, f"{shown} is not what was sealed", found=_bounded(_first_of_each_file(found)))
    return plan


def _suite_problems(listed: RunFiles, plan: PlanFile | Found) -> list[Found]:
    """A run is of a suite: it has a file of it, unless they were all too large to be kept, which its plan says."""
    is_kept = any(name.startswith(f"{evidence.SUITE_FOLDER}/") for name in listed.sha256)
    if is_kept or isinstance(plan, Found) or any(name.startswith("suite: ") for name in plan.head.not_kept):
        return []
    return [Found("is missing; every run has it", f"{evidence.SUITE_FOLDER}/")]


def _refuse_other_schema(root: Path, *, shown: Path) -> None:
    """Raise OTHER_SCHEMA for a plan that says so itself: another labctl wrote it, and nobody altered it."""
    try:
        plan = json.loads((root / evidence.PLAN).read_bytes())
    except ValueError:
        return
    version = plan.get("schemaVersion") if isinstance(plan, dict) else None
    if isinstance(version, int) and version != _SCHEMA:
        raise LabError(
            ErrorCode.OTHER_SCHEMA,
            f"{shown} is written in version {version} of the schema",
            found=[Found(str(version), file=evidence.PLAN, place="schemaVersion")],
            expected=f"version {_SCHEMA}, which is all that labctl {VERSION} reads",
            next_step="read it with the labctl that wrote it, or run the suite again",
        )


def _seal_problems(path: Path, listed: RunFiles, plan: PlanFile | Found) -> list[Found]:
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
    run_id = run_id_in(sealed) if isinstance(plan, Found) else plan.head.run_id
    expected = seal_text(listed.sha256, run_id=run_id)
    return [] if sealed == expected else seal_differences(sealed, expected, files=listed.sha256)


def _sealed_names(root: Path) -> frozenset[str]:
    """What COMPLETE lists; what is wrong with COMPLETE itself is told by `_seal_problems`."""
    complete = root / evidence.COMPLETE
    try:
        if file_problem(complete.lstat()):
            return frozenset()
        with complete.open("rb") as stream:
            return frozenset(names_in(stream.read(_LONGEST_SEAL_BYTES)))
    except OSError:
        return frozenset()


def _plan_of(path: Path, listed: RunFiles) -> PlanFile | Found:
    if not listed.sha256.get(evidence.PLAN):  # nothing is opened that may be no plain file, or of any size
        return Found("is missing", file=evidence.PLAN)
    try:
        return read_plan(path / evidence.PLAN)
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
