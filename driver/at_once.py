"""What this process still owes when it has no time left, kept as data: a small program takes its place and pays it.

A signal may come anywhere: in a lock, in the middle of a teardown, beside threads that wait for a service. Whoever
makes something that would outlive the process promises here how it ends. `end_now` then becomes `ending_program`: the
process keeps its id, its threads are gone, its children are still its own, and nothing of its state has to be right.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

_PROGRAM = Path(__file__).with_name("ending_program.py")
_PR_SET_CHILD_SUBREAPER = 36
_NO_LONGER_TAKEN = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


@dataclass(frozen=True, kw_only=True)
class Duty:
    """What is to be done for one thing that this process made."""

    labels: tuple[str, ...] = ()
    """`NAME=VALUE`: every container, network and volume with one of them goes."""
    takes_kept: bool = False
    """Also what --keep-containers would leave: the run did not come so far as to leave it in order."""
    remove: tuple[str, ...] = ()
    """Files and folders."""
    write: Mapping[str, str] = field(default_factory=dict)
    """Path to text, written whole."""
    told: tuple[str, ...] = ()
    """Lines for stderr."""
    holds: tuple[int, ...] = ()
    """Descriptors that stay open to the end, with the locks on them."""


Promise = Callable[[str], Duty]
"""What is owed now, given why the process ends; called between any two steps of the main thread, so it only looks."""

_promises: list[Promise] = []


def promise(owed: Promise) -> Callable[[], None]:
    """From now on the end of the process includes this; the returned call takes it back, for what ended in order."""
    _promises.append(owed)

    def take_back() -> None:
        if owed in _promises:
            _promises.remove(owed)

    return take_back


def adopt_orphans() -> None:
    """From now on what loses its parent stays a descendant of this process, also when that changes its program."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def be_deaf() -> None:
    """Take no signal any more; in the main thread.

    Whoever sends one to a command that is over would get another status for a run that is sealed and told, or a
    traceback.
    """
    for number in _NO_LONGER_TAKEN:
        signal.signal(number, signal.SIG_IGN)


def end_now(exit_code: int, *, reason: str, told: str = "") -> NoReturn:
    """Become the program that ends everything this process started and exits with that status; in the main thread.

    Args:
        exit_code: of the process.
        reason: one word, for the evidence: `interrupted`.
        told: lines for stderr beside those that are owed.

    """
    be_deaf()  # the last one that matters was taken; so it stays in the program to come
    signal.setitimer(signal.ITIMER_REAL, 0)
    order = json.dumps({"exitCode": exit_code, **_owed(reason, told.splitlines())}).encode()
    adopt_orphans()
    given = os.memfd_create("labctl-end", 0)  # not closed by the change of the program, and in no argv
    with os.fdopen(given, "wb", closefd=False) as stream:
        stream.write(order)
    os.lseek(given, 0, os.SEEK_SET)
    os.execv(sys.executable, [sys.executable, "-IS", str(_PROGRAM), str(given)])  # noqa: S606 - no shell is wanted


def _owed(reason: str, lines: Sequence[str]) -> dict[str, object]:
    duties, told = [], []
    for owed in tuple(_promises):
        try:
            duties.append(duty := owed(reason))
            for descriptor in duty.holds:
                os.set_inheritable(descriptor, True)  # noqa: FBT003 - across the change of the program, no further
        except Exception as error:  # noqa: BLE001 - the others are still owed, and it is told
            told.append(f"labctl: warning: {type(error).__name__} while ending: {error}")
    return {
        "labels": sorted({label for duty in duties for label in duty.labels}),
        "takesKept": any(duty.takes_kept for duty in duties),
        "remove": [path for duty in duties for path in duty.remove],
        "write": {path: text for duty in duties for path, text in duty.write.items()},
        "told": [*dict.fromkeys((*told, *(line for duty in duties for line in duty.told), *lines))],
    }
