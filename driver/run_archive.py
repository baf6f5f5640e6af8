"""A run as a directory: as it stands, or unpacked from a .tar.gz or .zip into a temporary one."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from contracts.errors import ErrorCode, Found, LabError
from contracts.evidence import COMPLETE, PLAN
from contracts.machine_limits import limit_error
from driver.run_files import printable
from driver.scratch import scratch_folder
from ledger.file_names import name_problem

MAX_MEMBERS = 100_000
"""Files and folders of an archive that is unpacked."""

MAX_BYTES = 4 * 1024**3
"""Of all unpacked files together."""

SUFFIXES = (".tar.gz", ".tgz", ".zip")
_CHUNK_BYTES = 1 << 20
_ENCRYPTED = 1
"""Of the flags of a zip's entry."""
_MOST_NAMED = 10
_DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)
"""What the readers of archives raise on bytes that nobody packed: headers are texts that should be numbers, too."""


@dataclass(frozen=True)
class _Member:
    """One entry; `content` is None for a folder."""

    name: str
    content: IO[bytes] | None
    size: int = 0
    """In bytes, as the archive says."""


@contextmanager
def directory_of(path: Path) -> Iterator[Path]:
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
    if not path.name.lower().endswith(SUFFIXES):
        raise no_run(path, "is a file, but no .tar.gz or .zip")
    with scratch_folder() as folder:
        yield _unpacked(path, folder)


def _unpacked(archive: Path, folder: Path) -> Path:
    """The run in an archive; that of an archive in it, where it holds nothing else: CI services zip what they keep."""
    outer = folder / "outer"
    left_bytes = _unpack_whole(archive, outer, MAX_BYTES, shown=archive)
    inner = [path for path in outer.rglob("*") if not path.is_dir()]
    if len(inner) == 1 and inner[0].name.lower().endswith(SUFFIXES):
        _unpack_whole(inner[0], folder / "inner", left_bytes, shown=archive)
        return _top_of(folder / "inner", archive)
    return _top_of(outer, archive)


def _unpack_whole(archive: Path, folder: Path, left_bytes: int, *, shown: Path) -> int:
    folder.mkdir()
    try:
        return _unpack(archive, folder, left_bytes, shown=shown)
    except _DAMAGED as error:
        if limit := limit_error(error, is_temporary=True):  # the archive may be as it was packed
            raise limit from error
        raise _refused(shown, f"cannot be unpacked: {error}") from error


def no_run(path: Path, what: str) -> LabError:
    """The error for a path that is no run."""
    return LabError(
        ErrorCode.NO_RUN,
        f"{path} is no run",
        found=[Found(what, file=str(path))],
        expected="the directory that `labctl run` prints, or a .tar.gz or .zip of it",
    )


def _unpack(archive: Path, folder: Path, left_bytes: int, *, shown: Path) -> int:
    """The bytes that may still be unpacked afterwards."""
    is_zip = archive.name.lower().endswith(".zip")
    members = _zip_members(archive, shown, left_bytes) if is_zip else _tar_members(archive, shown)
    seen: set[str] = set()
    for member in members:
        name = member.name
        if problem := name_problem(name):
            raise _refused(shown, f"{printable(name)}: the name {problem}")
        if name in seen or len(seen) >= MAX_MEMBERS:
            raise _refused(shown, f"{name}: is there twice" if name in seen else f"holds more than {MAX_MEMBERS}")
        seen.add(name)
        target = folder / name
        if member.content is None:
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        is_too_much = member.size > left_bytes  # then nothing of it is written
        left_bytes = -1 if is_too_much else _copy(member.content, target, left_bytes)
        if left_bytes < 0:
            raise _refused(shown, f"unpacks to more than {MAX_BYTES} bytes")
    return left_bytes


def _tar_members(archive: Path, shown: Path) -> Iterator[_Member]:
    # tarfile's own reader of gzip ends with the first of several members, which `cat` and parallel packers make
    with gzip.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        for info in tar:
            name = info.name.removeprefix("./")
            if info.isdir():
                if name not in {"", "."}:
                    yield _Member(name, None)
            elif info.isreg() and not info.issparse():
                yield _Member(name, tar.extractfile(info), info.size)
            else:
                raise _refused(shown, f"{printable(name)}: is a link or a special file")


def _zip_members(archive: Path, shown: Path, left_bytes: int) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as packed:
        if sum(info.file_size for info in packed.infolist()) > left_bytes:
            raise _refused(shown, f"unpacks to more than {MAX_BYTES} bytes")
        for info in packed.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.flag_bits & _ENCRYPTED:
                raise _refused(shown, f"{printable(info.filename)}: is encrypted")
            if info.is_dir():
                yield _Member(info.filename.rstrip("/"), None)
            elif kind in {0, stat.S_IFREG}:
                with packed.open(info) as content:
                    yield _Member(info.filename, content, info.file_size)
            else:
                raise _refused(shown, f"{printable(info.filename)}: is a link or a special file")


def _copy(content: IO[bytes], target: Path, left_bytes: int) -> int:
    """Copy into a new file; the bytes that may still come, negative when the limit is passed."""
    with target.open("xb") as stream:
        while left_bytes >= 0 and (piece := content.read(_CHUNK_BYTES)):
            left_bytes -= len(piece)
            stream.write(piece)
    return left_bytes


def _top_of(folder: Path, archive: Path) -> Path:
    """The folder that holds the run: the archive's own top, or the only one below it, however deep.

    Raises:
        LabError: NO_RUN where several folders hold one.

    """
    runs = [folder] if _holds_run(folder) else _runs_below(folder)
    if len(runs) > 1:
        names = ", ".join(sorted(path.name for path in runs)[:_MOST_NAMED])
        raise LabError(
            ErrorCode.NO_RUN,
            f"{archive} holds {len(runs)} runs",
            found=[Found(names, file=str(archive))],
            expected="an archive of one run",
            next_step="unpack it, and name one of them",
        )
    if runs:
        return runs[0]
    while len(entries := list(folder.iterdir())) == 1 and entries[0].is_dir():
        folder = entries[0]
    return folder


def _runs_below(folder: Path) -> list[Path]:
    """Folders with a plan or a seal that lie in no other such folder."""
    runs: list[Path] = []
    for root, folders, _ in os.walk(folder):
        if _holds_run(Path(root)):
            runs.append(Path(root))
            folders.clear()
    return runs


def _holds_run(folder: Path) -> bool:
    return any((folder / name).exists() for name in (PLAN, COMPLETE))


def _refused(archive: Path, why: str) -> LabError:
    return LabError(ErrorCode.ALTERED, f"{archive} is not what was packed", found=[Found(why, file=str(archive))])
