"""Signals: the first becomes an exception in the main thread; a second, or too long a teardown, ends all at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

from contracts.exits import Exit
from driver.at_once import adopt_orphans, end_now

GRACE_S = 30
"""How long the teardown may take before everything is ended at once; said on stderr."""


class Interrupted(BaseException):
    """The user or the machine asked the command to end; raised once, in the main thread."""

    def __init__(self, exit_code: Exit, word: str) -> None:
        super().__init__(word)
        self.exit_code = exit_code
        self.word = word
        self.kept: str | None = None
        """What evidence exists, once somebody knows."""
        self.next_step: str | None = None

    @property
    def rest(self) -> str:
        """What there is to say beyond the line that came with the signal; empty when nothing."""
        parts = {"kept": self.kept, "next": self.next_step}
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)


_MEANINGS = {
    signal.SIGINT: (Exit.INTERRUPTED, "interrupted"),
    signal.SIGTERM: (Exit.TERMINATED, "terminated"),
    signal.SIGHUP: (Exit.TERMINATED, "terminated"),
}


@dataclass
class _Taken:
    """The signals of this process so far."""

    first: Interrupted | None = None
    blocks: int = 0
    """Of `signals_wait` around what runs now."""
    waiting: list[int] = field(default_factory=list)


_taken = _Taken()


def listen() -> None:
    """Take signals from now on, until `be_deaf`; called in the main thread.

    A SIGHUP that nohup shut out stays out.
    """
    for number in _MEANINGS:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _take)
    signal.signal(signal.SIGALRM, _take)


def be_deaf() -> None:
    """Take no signal any more: the command is over, and its exit status stands.

    Whoever sent one now would get another status for a run that is sealed and told, or a traceback.
    """
    for number in _MEANINGS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Within: signals are taken at its end. For a few quick steps that make sense together only."""
    _taken.blocks += 1
    try:
        yield
    finally:
        _taken.blocks -= 1
        while _taken.waiting and not _taken.blocks:
            _act(_taken.waiting.pop(0))


def _take(number: int, _frame: FrameType | None) -> None:
    if _taken.blocks:
        _taken.waiting.append(number)
    else:
        _act(number)


def _act(number: int) -> None:
    first = _taken.first
    if first is not None:
        for each in (*_MEANINGS, signal.SIGALRM):
            signal.signal(each, signal.SIG_IGN)  # it is the last one that matters, also to the program to come
        end_now(first.exit_code, reason=first.word)
    if number == signal.SIGALRM:
        return  # somebody else's
    _taken.first = first = Interrupted(*_MEANINGS[signal.Signals(number)])
    signal.alarm(GRACE_S)
    adopt_orphans()  # the teardown ends parents before their children
    _say(f"labctl: {first.word}: ending what it started, within {GRACE_S} s; a second signal ends it at once\n")
    raise first


def _say(text: str) -> None:
    with suppress(OSError):  # nobody reads it any more
        os.write(2, text.encode())  # not by sys.stderr, in which the main thread may be at this moment
