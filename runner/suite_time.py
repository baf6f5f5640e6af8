"""`--suite-timeout`: when the whole suite's time is over, no attempt starts any more and those under way are ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from contracts.control import AttemptBreach, AttemptKey
from runner import clock
from runner.world import BreachWatch, Notify, WorldLostError, WorldRefusedError

CUT_OFF = "the suite's time (--suite-timeout) was over in the middle of this attempt"
"""The reason of an attempt that was under way."""


class SuiteTimeOverError(WorldLostError):
    """The attempt was cut off by the end of the suite's time; nobody can tell how it would have gone on."""


def time_left_s(until_s: float) -> float:
    """How long an attempt may still wait when the suite's time ends at `until_s`; raises SuiteTimeOverError."""
    left_s = until_s - clock.elapsed_s()
    if left_s <= 0:
        raise SuiteTimeOverError(CUT_OFF)
    return left_s


class SuiteTime:
    """Keeps the time, and stands between an agent and the watch of its attempt; `seconds` None never ends."""

    def __init__(self, seconds: float | None, *, watch: BreachWatch) -> None:
        self._seconds = seconds
        self._watch = watch
        self._lock = threading.Lock()
        self._under_way: dict[AttemptKey, Notify] = {}
        self.until_s = float("inf")
        """When it ends, on `runner.clock.elapsed_s`'s clock."""

    @property
    def over(self) -> str | None:
        """Why no attempt starts any more; None while there is time."""
        # asked of the clock: a thread that keeps to `until_s` may be there before the timer's
        is_over = clock.elapsed_s() >= self.until_s
        return f"the suite's time of {self._seconds:g} s (--suite-timeout) was over" if is_over else None

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
        with self._lock:
            under_way = list(self._under_way.values())
        for notify in under_way:
            notify(SuiteTimeOverError(CUT_OFF))
