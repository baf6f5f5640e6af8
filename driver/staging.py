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
from contracts.suite.links import LEFT_OUT, leads_inside
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
    links_left_out: tuple[str, ...]
    """Of the suite: links to folders, out of it, or nowhere, by their relative names."""


@contextmanager
def staged(suite: Suite) -> Iterator[Staged]:
    """Copies of the suite that nothing changes while the run is under way; removed at the end."""
    with scratch_folder() as root:
        root.chmod(0o755)  # a container's user must get in
        whole = root / "suite"
        left_out = []
        for path in files_below(suite.root):
            relative = path.relative_to(suite.root)
            if leads_inside(path, suite.root):
                _copy_readable(path, whole / relative)
            else:
                left_out.append(relative.as_posix())
        view = root / "agent-suite"
        view.mkdir(mode=0o755)
        stage_agent_view(suite, view)
        yield Staged(suite=whole, agent_suite=view, links_left_out=tuple(left_out))


def files_below(root: Path) -> Iterator[Path]:
    """Files and links, folder by folder and sorted in each; without caches and version control."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        to_folders = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*names, *to_folders]))


def _copy_readable(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & stat.S_IXUSR else 0o644)


def keep_suite(run: RunDirectory, stage: Staged, *, redactor: Redactor) -> list[str]:
    """Write the suite that runs into the evidence, redacted; what was left out, and why."""
    left_out = [f"{name} (a link to a folder, out of the suite, or nowhere)" for name in stage.links_left_out]
    kept_bytes = 0
    for path in files_below(stage.suite):
        relative = path.relative_to(stage.suite).as_posix()
        size = path.stat().st_size
        if kept_bytes + size > MAX_KEPT_BYTES:
            left_out.append(f"{relative} ({size} bytes, {digest_of_file(path)})")
            continue
        kept_bytes += size
        run.write_whole(f"{evidence.SUITE_FOLDER}/{relative}", redactor.redact_bytes(path.read_bytes()))
    return left_out
