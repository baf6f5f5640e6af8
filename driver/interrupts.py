"""SIGINT and SIGTERM as one exception in the main thread, so that teardown lives in `with` blocks alone."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from contracts.exits import Exit


class Interrupted(BaseException):
    """The user or the machine asked the run to end; raised once, in the main thread."""

    def __init__(self, exit_code: Exit, word: str) -> None:
        super().__init__(word)
        self.exit_code = exit_code
        self.kept: str | None = None
        """What evidence exists, once somebody knows."""

    def __str__(self) -> str:
        lines = [f"labctl: {self.args[0]}: the command was ended by a signal"]
        if self.kept:
            lines.append(f"kept: {self.kept}")
        return "\n".join(lines)


_MEANINGS = {
    signal.SIGINT: (Exit.INTERRUPTED, "interrupted"),
    signal.SIGTERM: (Exit.TERMINATED, "terminated"),
    signal.SIGHUP: (Exit.TERMINATED, "terminated"),
}


@contextmanager
def interruptible() -> Iterator[None]:
    """Within: the first signal raises `Interrupted`; later ones are ignored, so that teardown is not cut off."""
    seen: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's signature
        seen.append(number)
        if len(seen) > 1:
            return  # it came while the first one was taken in
        for each in _MEANINGS:
            signal.signal(each, signal.SIG_IGN)  # also for the commands that the teardown starts
        raise Interrupted(*_MEANINGS[signal.Signals(number)])

    before = {each: signal.signal(each, interrupt) for each in _MEANINGS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
