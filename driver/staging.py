"""The run's own copies of its inputs: what the stack reads, and what the evidence keeps."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts.canonical import digest_of_file
from contracts.suite.links import LEFT_OUT
from contracts.suite.staging import stage_agent_view
from contracts.suite.suite import Suite
from driver.scratch import scratch_folder
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Of all files in the evidence's suite/ together; what goes over it is kept by digest only."""


@dataclass(frozen=True)
class Staged:
    """Directories that any user may read, so that a container can."""

    suite: Path
    agent_suite: Path


@contextmanager
def staged(suite: Suite) -> Iterator[Staged]:
    """Copies of the suite that nothing changes while the run is under way; removed at the end."""
    with scratch_folder() as root:
        root.chmod(0o755)  # a container's user must get in
        whole = root / "suite"
        for relative, path in suite_files(suite.root):
            _copy_readable(path, whole / relative)
        view = root / "agent-suite"
        view.mkdir(mode=0o755)
        stage_agent_view(suite, view)
        yield Staged(suite=whole, agent_suite=view)


def suite_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Regular files below the suite with their relative names, sorted; caches and version control left out."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in sorted(names):
            path = Path(folder) / name
            if stat.S_ISREG(path.stat().st_mode):
                yield path.relative_to(root).as_posix(), path


def _copy_readable(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & stat.S_IXUSR else 0o644)


def keep_suite(run: RunDirectory, suite: Path, *, redactor: Redactor) -> list[str]:
    """Write the suite into the evidence, redacted; the files left out for their size, each with its digest."""
    left_out: list[str] = []
    kept_bytes = 0
    for relative, path in suite_files(suite):
        size = path.stat().st_size
        if kept_bytes + size > MAX_KEPT_BYTES:
            left_out.append(f"{relative} ({size} bytes, {digest_of_file(path)})")
            continue
        kept_bytes += size
        run.write_whole(f"{evidence.SUITE_FOLDER}/{relative}", redactor.redact_bytes(path.read_bytes()))
    return left_out
