"""Limits of the machine that an error may be about: which one it is, and how to lift it."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator

from contracts.errors import ErrorCode, Found, LabError

_FREE_SPACE = "free space for the evidence folder, or name another one with --evidence"
_FREE_TEMPORARY = "free space in the temporary folder, or name another one with TMPDIR"
_MORE_FILES = "allow more open files (`ulimit -n 1024`, or LimitNOFILE= of the service)"
_NEXT_STEPS = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: "close programs that hold files open, or raise fs.file-max of the machine",
    errno.EFBIG: "allow larger files (`ulimit -f unlimited`)",
    errno.ENOMEM: "free memory, or allow more of it (`ulimit -v unlimited`, the container's limit)",
}
_NAMES = {
    errno.ENOSPC: "the space of a disk",
    errno.EDQUOT: "the disk quota",
    errno.EMFILE: "the number of open files of a process",
    errno.ENFILE: "the number of open files of the machine",
    errno.EFBIG: "the size of a file",
    errno.ENOMEM: "the memory",
}


def next_step_of(number: int | None) -> str | None:
    """How to lift the limit that a system error of that number is about; None where it is about none."""
    return _NEXT_STEPS.get(number or 0)


def limit_error(
    error: BaseException, *, code: ErrorCode = ErrorCode.MACHINE_LIMIT, is_temporary: bool = False
) -> LabError | None:
    """The error to tell for one that is, or comes from, a limit of the machine; None for any other.

    With `is_temporary` it was met in the temporary folder; without, a full disk is told by the files that it names.
    """
    for one in _chain(error):
        number = errno.ENOMEM if isinstance(one, MemoryError) else one.errno if isinstance(one, OSError) else None
        if number in _NEXT_STEPS:
            said = str(one) or "no memory is left"
            return LabError(
                code,
                f"a limit of this machine was reached: {_NAMES[number]}",
                found=[Found(f"{said} ({errno.errorcode[number]})")],
                next_step=_next_step(one, number, is_temporary=is_temporary),
            )
    return None


def _next_step(error: BaseException, number: int, *, is_temporary: bool) -> str:
    step = _NEXT_STEPS[number]
    if step is not _FREE_SPACE:
        return step
    names = [str(name) for name in (getattr(error, key, None) for key in ("filename", "filename2")) if name]
    if is_temporary or any(tempfile.tempdir and name.startswith(f"{tempfile.tempdir}/") for name in names):
        return _FREE_TEMPORARY
    return step if names else f"{step}; or {_FREE_TEMPORARY}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from; a cycle of them ends."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
