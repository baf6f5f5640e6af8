"""The run directory: created exclusively, appended to line by line, written whole, and flushed once."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.evidence import APPEND_ONLY, COMPLETE, PLAN
from contracts.machine_limits import next_step_of
from contracts.record import Record
from ledger.file_names import name_problem
from ledger.record_file import record_pieces
from ledger.run_lock import NoLocksError, RunLock
from ledger.run_place import RunPlace

PART_PREFIX = ".labctl-part-"
"""Files of this prefix are unfinished writes; one that is left over says that its writer was killed."""

_DIRECTORY_MODE = 0o755
_FILE_MODE, _PROGRAM_MODE = 0o644, 0o755
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_PART = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TAIL_BYTES = 1 << 16
_WRITTEN_AT_ONCE = 1 << 16
"""A file may come in many small pieces, and each write is a call of its own."""


class RunDirectory:
    """One run's directory and its single writer; every failed write ends the run with LabError WRITE_FAILED.

    While it is open nobody else can open it to write (see `ledger.run_lock`).
    """

    def __init__(self, path: Path, *, run_id: str, lock: RunLock | None) -> None:
        """Use `create` or `open_existing`; the directory must be there."""
        self.path = path
        self.run_id = run_id
        self.no_lock: str | None = None
        """Why the directory could not be locked; None: it is."""
        self._lock_held = lock
        self.place = RunPlace(path)
        self.inputs: dict[str, str] = {}
        """Digest of each file that is never written again, by its name: what the seal must find."""
        self._handles: dict[str, int] = {}
        self._parts = 0
        self._failed: str | None = None
        self._closed = False
        self._lock = threading.RLock()

    @classmethod
    def create(cls, evidence: Path, *, run_id: str) -> RunDirectory:
        """Make `evidence/run_id` and its append-only files, all empty.

        Raises:
            LabError: RUN_ID_TAKEN when anything of that name is there, EVIDENCE_UNWRITABLE when it cannot be made.

        """
        path = evidence / run_id
        try:
            evidence.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(evidence, error) from error
        try:
            path.mkdir(mode=_DIRECTORY_MODE)
        except FileExistsError as error:
            raise LabError(
                ErrorCode.RUN_ID_TAKEN,
                f"{path} is already there",
                found=[Found("exists", file=str(path))],
                next_step="choose another --run-id, or none",
            ) from error
        except OSError as error:
            raise _unwritable(evidence, error) from error
        run = None
        try:
            run = cls(path, run_id=run_id, lock=None)
            run._take_lock()
            for name in APPEND_ONLY:
                run._open_handle(name)
        except OSError as error:
            if run is not None:
                run.close()
            shutil.rmtree(path)
            raise _unwritable(evidence, error) from error
        return run

    @classmethod
    def open_existing(cls, path: Path, *, run_id: str, lock: RunLock) -> RunDirectory:
        """Open an unsealed run to go on writing: unfinished writes are removed, a cut last line is dropped.

        The lock is taken already, and held from here on by the run directory, also where this fails.

        Raises:
            LabError: NO_RUN when it is no run directory, SEALED_RUN, WRITE_FAILED.

        """
        run = cls(path, run_id=run_id, lock=lock)
        try:
            run._reopen()
        except BaseException:
            run.close()
            raise
        return run

    def _reopen(self) -> None:
        path = self.path
        if not (path / PLAN).is_file():
            raise LabError(ErrorCode.NO_RUN, f"{path} is no run directory", found=[Found("no plan.json", str(path))])
        if os.path.lexists(path / COMPLETE):
            raise LabError(ErrorCode.SEALED_RUN, f"{path} is sealed; nothing is written into a sealed run")
        name = "."
        try:
            for part in path.rglob(PART_PREFIX + "*"):
                name = os.path.relpath(part, path)
                part.unlink()
            for name in APPEND_ONLY:
                _drop_cut_line(path / name)
                self._open_handle(name)
        except OSError as error:
            raise self._failure(name, error) from error

    def append(self, name: str, line: str) -> None:
        """Append one line, given without its line end, to an append-only file; it reaches the OS at once.

        Raises:
            LabError: WRITE_FAILED naming the file; the run takes no further write after it.
            ValueError: the file is not append-only, or the line holds a line end.

        """
        if name not in APPEND_ONLY or "\n" in line:
            raise ValueError(f"{name}: takes single lines of {', '.join(APPEND_ONLY)} only")
        with self._lock:
            self._require_open(name)
            try:
                _write_all(self._handles[name], (line + "\n").encode("utf-8", "backslashreplace"))
            except OSError as error:
                raise self._failure(name, error) from error

    def cut(self, name: str, *, size: int) -> None:
        """Take away what an append-only file has after so many bytes; raises LabError WRITE_FAILED."""
        with self._lock:
            self._require_open(name)
            try:
                os.ftruncate(self._handles[name], size)
            except OSError as error:
                raise self._failure(name, error) from error

    def remove(self, name: str) -> None:
        """Remove a file that is written whole, where it is there; raises LabError WRITE_FAILED."""
        with self._lock:
            self._require_open(name)
            try:
                (self.path / name).unlink(missing_ok=True)
            except OSError as error:
                raise self._failure(name, error) from error

    def write_whole(self, name: str, content: bytes | Iterable[bytes], *, is_program: bool = False) -> None:
        """Write a file under a temporary name beside it and rename it: afterwards it is whole, or what it was.

        Args:
            name: path below the run directory; its folders are made.
            content: the bytes, or the pieces in order.
            is_program: it may be executed.

        Raises:
            LabError: WRITE_FAILED naming the file, also for a name that a seal could not list.

        """
        pieces = (content,) if isinstance(content, bytes) else content
        with self._lock:
            self._require_open(name)
            if problem := name_problem(name):
                raise LabError(ErrorCode.WRITE_FAILED, f"{name!r} {problem}", next_step="rename the file")
            target = self.path / name
            part = target.parent / f"{PART_PREFIX}{os.getpid()}-{self._parts}"
            self._parts += 1
            try:
                target.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
                _write_new(part, pieces, mode=_PROGRAM_MODE if is_program else _FILE_MODE)
                part.replace(target)
            except OSError as error:
                raise self._failure(name, error) from error
            finally:
                with suppress(OSError):  # it was renamed, or the disk failed, which is told already
                    part.unlink()

    def write_record(self, name: str, record: Record) -> None:
        """Write a record as a file of its own; raises as `write_whole` does."""
        self.write_whole(name, record_pieces(record))

    def flush(self) -> None:
        """Bring every file and directory of the run, and its name in the evidence folder, to the disk once.

        Raises:
            LabError: WRITE_FAILED naming what could not be flushed; a failed fsync is never tried again, because the
                kernel may have dropped the pages and would then report success.

        """
        with self._lock:
            self._require_open(".")
            for name, handle in self._handles.items():
                self._sync(handle, name)
            appended = {self.path / name for name in self._handles}
            for folder, _, names in os.walk(self.path):
                for name in names:
                    path = Path(folder, name)
                    if path not in appended and stat.S_ISREG(path.lstat().st_mode):
                        self._sync_path(path)
                self._sync_path(Path(folder))
            self._sync_path(self.path.parent)

    def sync(self, name: str) -> None:
        """Bring one file and the run directory to the disk; raises LabError WRITE_FAILED."""
        with self._lock:
            self._require_open(name)
            self._sync_path(self.path / name)
            self._sync_path(self.path)

    def close(self) -> None:
        """Close the kept handles and let go of the lock; nothing is written afterwards. Twice does nothing more."""
        self._close_handles()
        self.place.close()
        if self._lock_held is not None:
            self._lock_held.release()

    def discard(self) -> None:
        """Remove the run directory and everything in it: for a run that ended before its first attempt."""
        self._close_handles()
        shutil.rmtree(self.path)
        self.close()  # only now: nobody may go on with a run that is being removed

    @property
    def lock_descriptors(self) -> tuple[int, ...]:
        """What holds the lock as long as it is open; none where there is no lock."""
        held = self._lock_held.descriptor if self._lock_held else None
        return () if held is None else (held,)

    def _close_handles(self) -> None:
        with self._lock:
            self._closed = True
            while self._handles:
                os.close(self._handles.popitem()[1])

    def _take_lock(self) -> None:
        try:
            self._lock_held = RunLock.take(self.path, waits=True)  # for a `resume` that finds it empty and leaves
        except NoLocksError as error:
            self.no_lock = str(error)

    def _require_open(self, name: str) -> None:
        if moved := self.place.trouble():
            raise moved
        if self._failed is not None:
            raise LabError(
                ErrorCode.WRITE_FAILED,
                f"{name} is not written, because an earlier write of this run failed",
                cause=self._failed,
                kept=str(self.path),
            )
        if self._closed:
            raise ValueError(f"{name}: the run directory is closed")

    def _open_handle(self, name: str) -> None:
        path = self.path / name
        path.parent.mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
        self._handles[name] = os.open(path, _APPEND, _FILE_MODE)

    def _sync_path(self, path: Path) -> None:
        name = os.path.relpath(path, self.path)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise self._failure(name, error) from error
        try:
            self._sync(handle, name)
        finally:
            os.close(handle)

    def _sync(self, handle: int, name: str) -> None:
        try:
            os.fsync(handle)
        except OSError as error:
            raise self._failure(name, error) from error

    def _failure(self, name: str, error: OSError) -> LabError:
        self._failed = f"{name}: {error.strerror or error}"
        return LabError(
            ErrorCode.WRITE_FAILED,
            f"{name} could not be written; the run stays unsealed",
            found=[Found(f"{error.strerror} (errno {error.errno})" if error.errno else str(error), file=name)],
            kept=str(self.path),
            next_step=next_step_of(error.errno),
        )


def _unwritable(evidence: Path, error: OSError) -> LabError:
    return LabError(
        ErrorCode.EVIDENCE_UNWRITABLE,
        f"{evidence} cannot hold a run directory",
        found=[Found(f"{error.strerror} (errno {error.errno})", file=str(evidence))],
        next_step=next_step_of(error.errno) or "make the folder writable, or name another one with --evidence",
    )


def _write_all(handle: int, content: bytes) -> None:
    """Write every byte; a short write is followed by another one, which then says why it was short."""
    written = os.write(handle, content)
    while written < len(content):
        more = os.write(handle, content[written:])
        if more == 0:
            raise OSError(errno.EIO, "the file takes no more bytes")
        written += more


def _write_new(part: Path, pieces: Iterable[bytes], *, mode: int) -> None:
    handle = os.open(part, _NEW_PART, mode)
    held = bytearray()
    try:
        for piece in pieces:
            held += piece
            if len(held) >= _WRITTEN_AT_ONCE:
                _write_all(handle, bytes(held))
                held.clear()
        _write_all(handle, bytes(held))
    finally:
        os.close(handle)


def _drop_cut_line(path: Path) -> None:
    """Cut the file after its last line end; to nothing when it has none."""
    if not path.exists():
        return
    with path.open("r+b") as stream:
        end = stream.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - _TAIL_BYTES)
            stream.seek(start)
            if (found := stream.read(end - start).rfind(b"\n")) >= 0:
                end = start + found + 1
                break
            end = start
        stream.truncate(end)
