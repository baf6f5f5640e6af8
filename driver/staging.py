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
from contracts.canonical import digest_of_bytes, digest_of_file
from contracts.suite.links import LEFT_OUT, leads_inside
from contracts.suite.staging import stage_agent_view
from contracts.suite.suite import Suite
from driver.agent_folder import AgentFolder
from driver.scratch import scratch_folder
from ledger.redaction import Redactor
from ledger.redaction_marks import names_of_files
from ledger.run_directory import RunDirectory

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Of all files in the evidence's suite/, and in its agent/, together; what goes over it is kept by digest only."""


@dataclass(frozen=True)
class Staged:
    """Directories that any user may read, so that a container can."""

    suite: Path
    agent_suite: Path
    links_left_out: tuple[str, ...]
    """Of the suite: links to folders, out of it, or nowhere, by their relative names."""
    agent: Path | None
    """The agent's own folder; None where it has none outside the suite."""


@contextmanager
def staged(suite: Suite, *, agent: AgentFolder | None = None) -> Iterator[Staged]:
    """Copies of suite and agent folder that nothing changes while the run is under way; removed at the end."""
    with scratch_folder() as root:
        root.chmod(0o755)  # a container's user must get in
        whole = root / "suite"
        left_out = []
        _make_folders(suite.root, whole)
        for path in files_below(suite.root):
            relative = path.relative_to(suite.root)
            if leads_inside(path, suite.root):
                _copy_readable(path, whole / relative)
            else:
                left_out.append(relative.as_posix())
        view = root / "agent-suite"
        view.mkdir(mode=0o755)
        stage_agent_view(suite, view)
        if agent is not None:
            agent.stage(root / "configs")
        yield Staged(
            suite=whole,
            agent_suite=view,
            links_left_out=tuple(left_out),
            agent=None if agent is None else root / "configs",
        )


def files_below(root: Path) -> Iterator[Path]:
    """Files and links, folder by folder and sorted in each; without caches, version control, and runs of labctl."""
    for folder, folders, names in _walk(root):
        to_folders = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*names, *to_folders]))


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(root):
        if Path(folder) != root and evidence.is_run_directory(names, folders):
            folders.clear()
            continue
        folders[:] = sorted(set(folders) - LEFT_OUT)
        yield folder, folders, names


def _make_folders(root: Path, whole: Path) -> None:
    """Also the empty ones: a working_dir, or a folder in it, may have no file."""
    for folder, _, _ in _walk(root):
        made = whole / Path(folder).relative_to(root)
        made.mkdir()
        made.chmod(0o755)


def _copy_readable(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & stat.S_IXUSR else 0o644)


def keep_suite(run: RunDirectory, stage: Staged, *, redactor: Redactor) -> list[str]:
    """Write the suite that runs into the evidence, redacted; the files that are too large, each with its digest."""
    return _keep(run, stage.suite, evidence.SUITE_FOLDER, redactor)


def keep_agent(run: RunDirectory, stage: Staged, *, redactor: Redactor) -> list[str]:
    """Write the agent's own folder, where it has one, into the evidence, redacted; likewise."""
    return [] if stage.agent is None else _keep(run, stage.agent, evidence.AGENT_FOLDER, redactor)


def _keep(run: RunDirectory, folder: Path, to: str, redactor: Redactor) -> list[str]:
    left_out = []
    kept_bytes = 0
    names = _Names(to, redactor)
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        relative = path.relative_to(folder).as_posix()
        size = path.stat().st_size
        if kept_bytes + size > MAX_KEPT_BYTES:
            left_out.append(f"{relative} ({size} bytes, {digest_of_file(path)})")
            continue
        kept_bytes += size
        name = names.of(relative)
        is_program = bool(path.stat().st_mode & stat.S_IXUSR)
        content = redactor.writing(name).redact_bytes(path.read_bytes())
        run.write_whole(name, content, is_program=is_program)
        run.inputs[name] = digest_of_bytes(content)
    return left_out


class _Names:
    """The names of files in the evidence: redacted as their contents are, so that what names a file still finds it."""

    def __init__(self, to: str, redactor: Redactor) -> None:
        self._to, self._redactor = to, redactor.writing(names_of_files(to))
        self._taken: set[str] = set()

    def of(self, relative: str) -> str:
        """The name below the run directory; a number tells two apart that became one."""
        redacted, number = self._redactor.redact_text(relative), 1
        name = redacted
        while name in self._taken:
            number += 1
            name = f"{redacted} #{number}"
        self._taken.add(name)
        return f"{self._to}/{name}"
