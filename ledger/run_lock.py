"""The lock on a run directory: held by whoever writes the run, and gone with that process, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

_HELD = {errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN}
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class LockedError(Exception):
    """Somebody else holds the lock: the run is live."""


class NoLocksError(Exception):
    """The file system has no locks, so nobody can tell whether the run is live; the text is the system's own."""


class RunLock:
    """An exclusive flock on the directory's own descriptor, which no program that is started inherits.

    The kernel ends it with the process that took it, so no killed run leaves one behind, and it is in no file.
    """

    def __init__(self, descriptor: int) -> None:
        """Use `take`."""
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, path: Path, *, waits: bool = False) -> RunLock:
        """Lock the directory: at once, or, where it `waits`, as soon as whoever looks at it lets go.

        Raises:
            LockedError: somebody else holds it.
            NoLocksError: the file system cannot lock.
            OSError: it cannot be opened; NotADirectoryError for what is none.

        """
        descriptor = os.open(path, _OPEN)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except OSError as error:
            os.close(descriptor)
            if error.errno in _HELD:
                raise LockedError(str(path)) from error
            raise NoLocksError(error.strerror) from error
        return cls(descriptor)

    @property
    def descriptor(self) -> int | None:
        """What the lock is on; None once it was let go."""
        return self._descriptor

    def release(self) -> None:
        """Let go; a second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
