"""Seals a run: everything is flushed, then COMPLETE lists every file, and nothing is written any more."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from driver.recorded import input_problems
from driver.run_files import list_run_files
from driver.unsealed_files import AGAIN
from ledger.run_directory import RunDirectory

REQUIRED_FILES = (
    evidence.PLAN,
    evidence.ENVIRONMENT,
    evidence.RESULTS,
    evidence.JUNIT,
    evidence.JOURNAL,
    evidence.README,
    evidence.RUN_LOG,
    evidence.ATTEMPTS,
)
"""What every sealed run has."""


def seal(run: RunDirectory) -> None:
    """Flush the run, write COMPLETE last, flush it, and close the run directory.

    Raises:
        LabError: WRITE_FAILED when something cannot be flushed or listed, or was changed or taken away since it was
            written; the run stays unsealed.

    """
    run.flush()
    listed = list_run_files(run.path)
    if listed.problems:
        raise LabError(
            ErrorCode.WRITE_FAILED,
            f"{run.path} cannot be sealed",
            found=listed.problems,
            expected="plain files with plain names, in folders that are not empty",
            kept=f"{run.path} (unsealed)",
        )
    refuse_changed(run, listed.sha256)
    if missing := [name for name in REQUIRED_FILES if name not in listed.sha256]:
        raise _changed(run, [Found("is missing; the run had written it", file=name) for name in missing])
    run.write_whole(evidence.COMPLETE, seal_text(listed.sha256, run_id=run.run_id))
    try:
        run.sync(evidence.COMPLETE)
    except LabError:
        with suppress(OSError):  # the disk that failed may refuse this as well, and the first error is told
            (run.path / evidence.COMPLETE).unlink()  # what may never reach the disk is no seal
        raise
    run.close()


def refuse_changed(run: RunDirectory, sha256: Mapping[str, str]) -> None:
    """Raise LabError WRITE_FAILED where an input is not as the run wrote it: then nobody could run from it again."""
    if found := input_problems(run.inputs, sha256):
        raise _changed(run, found)


def _changed(run: RunDirectory, found: list[Found]) -> LabError:
    return LabError(
        ErrorCode.WRITE_FAILED,
        f"{run.path} was changed in the middle of its run; it stays unsealed",
        found=found,
        kept=f"{run.path} (unsealed)",
        next_step=AGAIN,
    )


def seal_text(sha256: Mapping[str, str], *, run_id: str) -> bytes:
    """The only spelling of COMPLETE for these files: its header, then what `sha256sum` prints, sorted by name."""
    body = "".join(f"{sha256[name]}  {name}\n" for name in sorted(sha256)).encode()
    body_sha256 = hashlib.sha256(body).hexdigest()
    return f"# labctl-seal 1 run={run_id} files={len(sha256)} body={body_sha256}\n".encode() + body
