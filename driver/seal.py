"""Seals a run: everything is flushed, then COMPLETE lists every file, and nothing is written any more."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from driver.run_files import list_run_files
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
        LabError: WRITE_FAILED when something cannot be flushed or listed, BUG when a file that every run has is
            missing; the run stays unsealed.

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
    if missing := [name for name in REQUIRED_FILES if name not in listed.sha256]:
        raise LabError(ErrorCode.BUG, f"{run.path} has no {', '.join(missing)}", kept=f"{run.path} (unsealed)")
    run.write_whole(evidence.COMPLETE, seal_text(listed.sha256, run_id=run.run_id))
    try:
        run.sync(evidence.COMPLETE)
    except LabError:
        with suppress(OSError):  # the disk that failed may refuse this as well, and the first error is told
            (run.path / evidence.COMPLETE).unlink()  # what may never reach the disk is no seal
        raise
    run.close()


def seal_text(sha256: Mapping[str, str], *, run_id: str) -> bytes:
    """The only spelling of COMPLETE for these files: its header, then what `sha256sum` prints, sorted by name."""
    body = "".join(f"{sha256[name]}  {name}\n" for name in sorted(sha256)).encode()
    body_sha256 = hashlib.sha256(body).hexdigest()
    return f"# labctl-seal 1 run={run_id} files={len(sha256)} body={body_sha256}\n".encode() + body
