"""What stands in a run directory: every file with its digest, and everything that no run may hold."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from contracts.errors import Found
from contracts.evidence import COMPLETE
from ledger.file_names import name_problem

_CHUNK_BYTES = 1 << 20


@dataclass
class RunFiles:
    """The files below a run directory but COMPLETE."""

    sha256: dict[str, str] = field(default_factory=dict)
    """Relative path -> 64 lower-case hex digits."""
    problems: list[Found] = field(default_factory=list)
    """Links, special files, empty folders, names that have no single spelling, files that cannot be read."""


def list_run_files(root: Path) -> RunFiles:
    """Read everything below the run directory; links are never followed, special files never opened."""
    listed = RunFiles()
    for name, entry in _walk(root, "", listed):
        if name == COMPLETE:
            continue
        if problem := name_problem(name):
            listed.problems.append(Found(f"the name {problem}", file=printable(name)))
        elif problem := file_problem(entry.stat(follow_symlinks=False)):
            listed.problems.append(Found(problem, file=name))
        else:
            try:
                listed.sha256[name] = _sha256(Path(entry.path))
            except OSError as error:
                listed.problems.append(Found(f"cannot be read: {error.strerror}", file=name))
    return listed


def file_problem(status: os.stat_result) -> str | None:
    """Why a directory entry is no plain file of its own, or None."""
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "is a special file"
    if status.st_nlink > 1:
        return f"is a hard link: the same file has {status.st_nlink} names"
    return None


def printable(name: str) -> str:
    """A name as an error may show it, with escapes for what a terminal or an encoder would choke on."""
    return ascii(name)[1:-1] if name_problem(name) else name


def _walk(folder: Path, prefix: str, listed: RunFiles) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every entry that is no folder, in no particular order."""
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        listed.problems.append(Found(f"cannot be read: {error.strerror}", file=printable(prefix) or "."))
        return
    if not entries:
        listed.problems.append(Found("is an empty folder", file=printable(prefix) or "."))
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", listed)
        else:
            yield prefix + entry.name, entry


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()
