"""`--suite-timeout`: when the whole suite's time is over, no attempt starts any more and those under way are ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from contracts.control import AttemptBreach, AttemptKey
from runner import clock
from runner.world import Notify, WorldLostError, WorldRefusedError

CUT_OFF = "the suite's time (--suite-timeout) was over in the middle of this attempt"
"""The reason of an attempt that was under way."""


class SuiteTimeOverError(WorldLostError):
    """The attempt was cut off by the end of the suite's time; nobody can tell how it would have gone on."""


class WatchesAttempts(Protocol):
    """Whoever knows when an attempt passes a limit of requests (`runner.world.World`)."""

    def watch(self, key: AttemptKey, notify: Notify) -> None:
        """Call `notify` once, from another thread."""
        ...


class SuiteTime:
    """Keeps the time, and stands between an agent and the watch of its attempt; `seconds` None never ends."""

    def __init__(self, seconds: float | None, *, watch: WatchesAttempts) -> None:
        self._seconds = seconds
        self._watch = watch
        self._lock = threading.Lock()
        self._under_way: dict[AttemptKey, Notify] = {}
        self.until_s = float("inf")
        """When it ends, on `runner.clock.elapsed_s`'s clock."""
        self.over: str | None = None
        """Why no attempt starts any more; None while there is time."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within: the time runs."""
        if self._seconds is None:
            yield
            return
        self.until_s = clock.elapsed_s() + self._seconds
        timer = threading.Timer(self._seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def watch(self, key: AttemptKey, notify: Notify) -> None:
        """As the world's watch, which also tells of the end of the suite's time."""
        if self._seconds is not None:
            with self._lock:
                self._under_way[key] = notify
            if self.over is not None:
                notify(SuiteTimeOverError(CUT_OFF))
        self._watch.watch(key, lambda about: self._pass_on(key, notify, about))

    def _pass_on(
        self, key: AttemptKey, notify: Notify, about: AttemptBreach | WorldLostError | WorldRefusedError
    ) -> None:
        with self._lock:
            self._under_way.pop(key, None)
        notify(about)

    def _end(self) -> None:
        self.over = f"the suite's time of {self._seconds:g} s (--suite-timeout) was over"
        with self._lock:
            under_way = list(self._under_way.values())
        for notify in under_way:
            notify(SuiteTimeOverError(CUT_OFF))
