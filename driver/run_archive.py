"""A run as a directory: as it stands, or unpacked from a .tar.gz or .zip into a temporary one."""

from __future__ import annotations

import os
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from contracts.errors import ErrorCode, Found, LabError
from contracts.evidence import COMPLETE, PLAN
from driver.run_files import printable
from ledger.file_names import name_problem

MAX_MEMBERS = 100_000
"""Files and folders of an archive that is unpacked."""

MAX_BYTES = 4 * 1024**3
"""Of all unpacked files together."""

_CHUNK_BYTES = 1 << 20
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class _Member:
    """One entry; `content` is None for a folder."""

    name: str
    content: IO[bytes] | None


@contextmanager
def run_directory_of(path: Path) -> Iterator[Path]:
    """The run directory that a path names; an archive is unpacked for as long as the context lasts.

    Raises:
        LabError: NO_RUN for what is neither directory nor archive, ALTERED for an archive that is damaged, too large,
            or holds anything but plain files and folders, each once and below the run.

    """
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise no_run(path, "is no directory and no archive" if os.path.lexists(path) else "does not exist")
    if not path.name.endswith((".tar.gz", ".tgz", ".zip")):
        raise no_run(path, "is a file, but no .tar.gz or .zip")
    with tempfile.TemporaryDirectory(prefix="labctl-run-") as folder:
        try:
            _unpack(path, Path(folder))
        except _DAMAGED as error:
            raise _refused(path, f"cannot be unpacked: {error}") from error
        yield _top_of(Path(folder))


def no_run(path: Path, what: str) -> LabError:
    """The error for a path that is no run."""
    return LabError(
        ErrorCode.NO_RUN,
        f"{path} is no run",
        found=[Found(what, file=str(path))],
        expected="the directory that `labctl run` prints, or a .tar.gz or .zip of it",
    )


def _unpack(archive: Path, folder: Path) -> None:
    members = _zip_members(archive) if archive.name.endswith(".zip") else _tar_members(archive)
    seen: set[str] = set()
    left_bytes = MAX_BYTES
    for member in members:
        name = member.name
        if problem := name_problem(name):
            raise _refused(archive, f"{printable(name)}: the name {problem}")
        if name in seen or len(seen) >= MAX_MEMBERS:
            raise _refused(archive, f"{name}: is there twice" if name in seen else f"holds more than {MAX_MEMBERS}")
        seen.add(name)
        target = folder / name
        if member.content is None:
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        left_bytes = _copy(member.content, target, left_bytes)
        if left_bytes < 0:
            raise _refused(archive, f"unpacks to more than {MAX_BYTES} bytes")


def _tar_members(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive, "r|gz") as tar:
        for info in tar:
            name = info.name.removeprefix("./")
            if info.isdir():
                if name not in {"", "."}:
                    yield _Member(name, None)
            elif info.isreg() and not info.issparse():
                yield _Member(name, tar.extractfile(info))
            else:
                raise _refused(archive, f"{printable(name)}: is a link or a special file")


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                yield _Member(info.filename.rstrip("/"), None)
            elif kind in {0, stat.S_IFREG}:
                with packed.open(info) as content:
                    yield _Member(info.filename, content)
            else:
                raise _refused(archive, f"{printable(info.filename)}: is a link or a special file")


def _copy(content: IO[bytes], target: Path, left_bytes: int) -> int:
    """Copy into a new file; the bytes that may still come, negative when the limit is passed."""
    with target.open("xb") as stream:
        while left_bytes >= 0 and (piece := content.read(_CHUNK_BYTES)):
            left_bytes -= len(piece)
            stream.write(piece)
    return left_bytes


def _top_of(folder: Path) -> Path:
    """The folder that holds the run: the archive's own top, or its single top folder."""
    entries = list(folder.iterdir())
    if len(entries) == 1 and entries[0].is_dir() and not any((folder / name).exists() for name in (PLAN, COMPLETE)):
        return entries[0]
    return folder


def _refused(archive: Path, why: str) -> LabError:
    return LabError(ErrorCode.ALTERED, f"{archive} is not what was packed", found=[Found(why, file=str(archive))])
