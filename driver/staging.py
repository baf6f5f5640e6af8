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
    """Files of the suite with their relative names, sorted; without caches, version control and links that leave it."""
    for path in _files_below(root):
        if leads_inside(path, root):
            yield path.relative_to(root).as_posix(), path


def links_left_out(root: Path) -> list[str]:
    """The links that `suite_files` leaves out: to folders, out of the suite, or nowhere."""
    links = [path for path in _files_below(root) if path.is_symlink() and not leads_inside(path, root)]
    return [path.relative_to(root).as_posix() for path in links]


def _files_below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        to_folders = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*names, *to_folders]))


def _copy_readable(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & stat.S_IXUSR else 0o644)


def keep_suite(run: RunDirectory, suite: Path, *, redactor: Redactor) -> list[str]:
    """Write the suite into the evidence, redacted; what was left out, and why."""
    left_out = [f"{name} (a link to a folder, out of the suite, or nowhere)" for name in links_left_out(suite)]
    kept_bytes = 0
    for relative, path in suite_files(suite):
        size = path.stat().st_size
        if kept_bytes + size > MAX_KEPT_BYTES:
            left_out.append(f"{relative} ({size} bytes, {digest_of_file(path)})")
            continue
        kept_bytes += size
        run.write_whole(f"{evidence.SUITE_FOLDER}/{relative}", redactor.redact_bytes(path.read_bytes()))
    return left_out
