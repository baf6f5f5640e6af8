"""What somebody can do who has labctl and may write the folder: edit the attempts, and derive everything else again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.manifest import EnvironmentManifest
from contracts.plan import Plan
from driver.recorded import recorded_digests
from driver.run_files import list_run_files
from driver.run_readme import named_digests
from driver.seal import seal
from ledger.grading import grade_run
from ledger.run_directory import RunDirectory
from ledger.run_lock import RunLock
from ledger.session_files import write_session_files


def forge_consistently(root: Path, change: Callable[[AttemptRecord], AttemptRecord], *, scratch: Path) -> None:
    """Every attempt changed, and results, sessions, manifest, README and seal made anew by the lab's own code."""
    (root / evidence.COMPLETE).unlink()
    plan = Plan.model_validate_json((root / evidence.PLAN).read_bytes())
    attempts = (root / evidence.ATTEMPTS).read_text().splitlines()
    changed = [change(AttemptRecord.model_validate_json(line)) for line in attempts]
    (root / evidence.ATTEMPTS).write_text("".join(f"{record.to_line()}\n" for record in changed))
    run = RunDirectory.open_existing(root, run_id=plan.run_id, lock=RunLock.take(root))
    grading = grade_run(plan, root / evidence.ATTEMPTS)
    run.write_whole(evidence.RESULTS, grading.results_pieces())
    run.write_whole(evidence.JUNIT, grading.junit_pieces())
    write_session_files(run, plan, suite=root / evidence.SUITE_FOLDER, scratch=scratch)
    manifest = EnvironmentManifest.model_validate_json((root / evidence.ENVIRONMENT).read_bytes())
    recorded = recorded_digests(list_run_files(root).sha256)
    run.write_record(evidence.ENVIRONMENT, manifest.model_copy(update={"recorded": recorded}))
    readme = (root / evidence.README).read_text()
    for name, digest in named_digests(root).items():
        readme = re.sub(f"(?<=- `{re.escape(name)}` has the digest )sha256:[0-9a-f]+", digest, readme)
    run.write_whole(evidence.README, readme.encode())
    seal(run)
