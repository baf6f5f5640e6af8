"""Limits of the machine that an error may be about: which one it is, and how to lift it."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from contracts.errors import ErrorCode, Found, LabError

_FREE_SPACE = "free space for the evidence folder, or name another one with --evidence"
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


def limit_error(error: BaseException, *, code: ErrorCode = ErrorCode.MACHINE_LIMIT) -> LabError | None:
    """The error to tell for one that is, or comes from, a limit of the machine; None for any other."""
    for one in _chain(error):
        number = errno.ENOMEM if isinstance(one, MemoryError) else one.errno if isinstance(one, OSError) else None
        if number in _NEXT_STEPS:
            said = str(one) or "no memory is left"
            return LabError(
                code,
                f"a limit of this machine was reached: {_NAMES[number]}",
                found=[Found(f"{said} ({errno.errorcode[number]})")],
                next_step=_NEXT_STEPS[number],
            )
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from; a cycle of them ends."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
