"""Signals: the first becomes an exception in the main thread; a second, or too long a teardown, ends all at once.

The exception is raised wherever the main thread happens to be. In a callback of the interpreter's own (a weak
reference's in the import system, a finalizer, a conversion that a library gives up on) it is dropped and the command
would go on; so while the teardown lasts it is looked at several times a second whether the exception is still alive,
and another one is raised where it is not. Nothing is raised inside the import system itself: it could keep the lock of
all imports, and a thread that imports would never end.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

from contracts.exits import Exit
from driver.at_once import adopt_orphans, end_now

GRACE_S = 30
"""How long the teardown may take before everything is ended at once; said on stderr."""
_LOOK_S = 0.1
_IMPORT_SYSTEM = "<frozen importlib"


class Interrupted(BaseException):
    """The user or the machine asked the command to end; raised in the main thread, again only if it was dropped."""

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

    first: tuple[Exit, str] | None = None
    until: float = 0.0
    """When the grace is over, on the monotonic clock."""
    raised: Callable[[], Interrupted | None] = lambda: None
    """What was raised, as long as it is alive."""
    blocks: int = 0
    """Of `signals_wait` around what runs now."""
    waiting: list[int] = field(default_factory=list)


_taken = _Taken()


def listen() -> None:
    """Take signals from now on, until `driver.at_once.be_deaf`; called in the main thread.

    A SIGHUP that nohup shut out stays out.
    """
    for number in _MEANINGS:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _take)
    signal.signal(signal.SIGALRM, _take)
    sys.unraisablehook = _unraisable


@contextmanager
def signals_wait() -> Iterator[None]:
    """Within: signals are taken at its end. For a few quick steps that make sense together only."""
    _taken.blocks += 1
    try:
        yield
    finally:
        _taken.blocks -= 1
        while _taken.waiting and not _taken.blocks:
            _act(_taken.waiting.pop(0), None)


def on_its_way() -> Interrupted | None:
    """What came of the first signal, for whoever has another error in its place; None before any signal.

    A signal to the whole process group also ends what this process had called, and whoever waits for that raises an
    error of that. What a person has to know is the signal.
    """
    if _taken.first is None:
        return None
    interrupted = _taken.raised()
    if interrupted is None:
        interrupted = Interrupted(*_taken.first)
        _taken.raised = weakref.ref(interrupted)  # nobody need raise another one
    return interrupted


def _take(number: int, frame: FrameType | None) -> None:
    if not _taken.blocks:
        _act(number, frame)
    elif number != signal.SIGALRM or number not in _taken.waiting:
        _taken.waiting.append(number)


def _act(number: int, frame: FrameType | None) -> None:
    if _taken.first is not None:
        _act_again(number, frame, *_taken.first)
    elif number != signal.SIGALRM:  # which would be somebody else's
        _taken.first = exit_code, word = _MEANINGS[signal.Signals(number)]
        _taken.until = time.monotonic() + GRACE_S
        signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
        adopt_orphans()  # the teardown ends parents before their children
        _say(f"labctl: {word}: ending what it started, within {GRACE_S} s; a second signal ends it at once\n")
        _raise(frame, exit_code, word)


def _act_again(number: int, frame: FrameType | None, exit_code: Exit, word: str) -> None:
    raised = _taken.raised()
    if number != signal.SIGALRM or time.monotonic() > _taken.until:
        end_now(exit_code, reason=word, told=raised.rest if raised else "")
    if raised is None:
        _raise(frame, exit_code, word)


def _raise(frame: FrameType | None, exit_code: Exit, word: str) -> None:
    """At that frame, unless it is one that must not be left so: then the next look will be at another one."""
    if frame is not None and frame.f_code.co_filename.startswith(_IMPORT_SYSTEM):
        return
    interrupted = Interrupted(exit_code, word)
    _taken.raised = weakref.ref(interrupted)
    try:
        raise interrupted
    finally:
        del interrupted  # else its traceback would keep it alive, whoever dropped it


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """What a callback raises is told as ever, but for what comes of a signal: that is raised again."""
    if not isinstance(unraisable.exc_value, Interrupted):
        sys.__unraisablehook__(unraisable)


def _say(text: str) -> None:
    with suppress(OSError):  # nobody reads it any more
        os.write(2, text.encode())  # not by sys.stderr, in which the main thread may be at this moment
