"""What stands in a run directory: every file with its digest, and everything that no run may hold."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from contracts.errors import Found
from contracts.evidence import COMPLETE, SESSIONS_DB
from ledger.file_names import name_problem

_CHUNK_BYTES = 1 << 20


UNREAD = ""
"""In the place of a digest: the file was not read."""

_LARGE_BYTES = 64 << 20
"""From here on a file is looked at for holes before it is read."""


@dataclass
class RunFiles:
    """The files below a run directory but COMPLETE."""

    sha256: dict[str, str] = field(default_factory=dict)
    """Relative path -> 64 lower-case hex digits, or UNREAD."""
    problems: list[Found] = field(default_factory=list)
    """Links, special files, empty folders, names that have no single spelling, files that cannot be read."""


def list_run_files(root: Path) -> RunFiles:
    """Read everything below the run directory; links are never followed, special files never opened."""
    names = name_run_files(root)
    return read_run_files(root, names, only=names.sha256.keys())


def name_run_files(root: Path) -> RunFiles:
    """The same without reading any file: every digest is UNREAD."""
    named = RunFiles()
    for name, entry in _walk(root, named):
        if name == COMPLETE:
            continue
        if problem := name_problem(name):
            named.problems.append(Found(f"the name {problem}", file=printable(name)))
        elif problem := _entry_problem(name, entry):
            named.problems.append(Found(problem, file=name))
        else:
            named.sha256[name] = UNREAD
    return named


def read_run_files(root: Path, named: RunFiles, *, only: Container[str]) -> RunFiles:
    """With the digests of those files alone that are in `only`: what no seal lists may be of any size."""
    listed = RunFiles(problems=[*named.problems])
    for name in named.sha256:
        try:
            listed.sha256[name] = _sha256(root / name) if name in only else UNREAD
        except OSError as error:
            listed.problems.append(Found(f"cannot be read: {error.strerror}", file=name))
    return listed


def _entry_problem(name: str, entry: os.DirEntry[str]) -> str | None:
    try:
        status = entry.stat(follow_symlinks=False)
        if problem := file_problem(status):
            return problem
        if status.st_size > _LARGE_BYTES and name != SESSIONS_DB and _has_hole(entry.path, status.st_size):
            return f"has {status.st_size} bytes with a hole among them, which no text has: it was changed"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None


def _has_hole(path: str, size: int) -> bool:
    """Whether the file has bytes that nobody wrote; a file system that cannot tell has none."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.lseek(handle, 0, os.SEEK_HOLE) < size
    finally:
        os.close(handle)


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


def _walk(root: Path, listed: RunFiles) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every entry that is no folder, in no particular order, however deep."""
    folders = [""]
    while folders:
        prefix = folders.pop()
        try:
            entries = list(os.scandir(root / prefix))
        except OSError as error:
            listed.problems.append(Found(f"cannot be read: {error.strerror}", file=printable(prefix) or "."))
            continue
        if not entries:
            listed.problems.append(Found("is an empty folder", file=printable(prefix) or "."))
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name, entry


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()
