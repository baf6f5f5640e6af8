"""Reads what the files of a run directory say, sealed or not, into what a verification and a comparison look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from contracts import evidence
from contracts.manifest import EnvironmentManifest
from driver.run_files import file_problem
from ledger.manifest_file import cases_follow, manifest_contradictions, read_manifest
from ledger.plan_file import PlanFile, read_plan
from ledger.rows_reading import DoesNotFollowError, read_rows
from ledger.run_rows import RunRows

_NAMES = (
    *(evidence.PLAN, evidence.ENVIRONMENT, evidence.RESULTS),
    *(evidence.JUNIT, evidence.JOURNAL, evidence.ATTEMPTS),
)


@dataclass(frozen=True)
class RunRead:
    """A run that contradicts itself nowhere in its plan, attempts and journal."""

    plan: PlanFile
    manifest: EnvironmentManifest
    """Without its cases."""
    rows: RunRows
    follows: bool
    """Manifest, results.json and junit.xml are byte by byte what plan and attempts make of them."""


def read_run(root: Path) -> RunRead | None:
    """What a run directory holds; None: a file is missing, cut, no plain file, or contradicts another one."""
    try:
        if (root / evidence.TRACES_FOLDER).is_symlink() or any(file_problem((root / name).lstat()) for name in _NAMES):
            return None
        plan, manifest = read_plan(root / evidence.PLAN), read_manifest(root / evidence.ENVIRONMENT)
        read = read_rows(plan, root)
        follows = (
            not any(manifest_contradictions(manifest.head, plan.head))
            and cases_follow(manifest, plan.cases)
            and read.derived.are_in(root)
        )
    except (OSError, ValidationError, DoesNotFollowError):
        return None  # whoever asked finds out more slowly what it is
    return RunRead(plan=plan, manifest=manifest.head, rows=read.rows, follows=follows)
