"""Where a run directory is while its run goes on: somebody may take it away, and nothing is made in its place."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from contracts.errors import ErrorCode, LabError

_OPEN = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_REMOVED = " (deleted)"
"""What the kernel adds to the name of a directory that has none any more."""


class RunPlace:
    """The directory itself, held open, so that another one of its name is told apart from it."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where it cannot be opened."""
        self._path = path
        self._descriptor: int | None = os.open(path, _OPEN)

    def close(self) -> None:
        """Let go of it; from then on no trouble is seen. A second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def trouble(self) -> LabError | None:
        """WRITE_FAILED for a directory that is not where it was, saying what is kept of it; None: it is there."""
        if self._descriptor is None or self._is_there(self._descriptor):
            return None
        now = self._now(self._descriptor)
        what = "removed" if now is None else f"moved to {now}"
        return LabError(
            ErrorCode.WRITE_FAILED,
            f"{self._path} was {what} in the middle of its run; nothing more is written",
            kept="nothing" if now is None else f"{now} (unsealed: it is never graded)",
            next_step="run the suite again" if now is None else f"labctl resume {shlex.quote(now)}",
        )

    def _is_there(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(descriptor))  # noqa: PTH116 - for each line: os is fast
        except OSError:
            return False

    @staticmethod
    def _now(descriptor: int) -> str | None:
        """Its path as the kernel has it; None: it has none."""
        try:
            now = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - as above
        except OSError:
            return None
        return None if now.endswith(_REMOVED) else now
