"""Does things after a pause, unless they are called off before: most of what would be done then is never needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple

from runner import clock


class _Planned(NamedTuple):
    at_s: float
    act: Callable[[], None]
    instead: Callable[[], None]


class Later:
    """One pause for all, and one thread, which starts with the first of them; safe for many threads."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._planned: dict[Hashable, _Planned] = {}  # in the order in which they are due, for the pause is the same
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def plan(self, name: Hashable, act: Callable[[], None], *, instead: Callable[[], None]) -> None:
        """Do `act` after the pause, on a thread that others wait for too; or, when it is called off, `instead`."""
        with self._changed:
            was_empty = not self._planned
            self._planned[name] = _Planned(clock.elapsed_s() + self._seconds, act, instead)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="later", daemon=True)
                self._thread.start()
            elif was_empty:
                self._changed.notify()

    def call_off(self, name: Hashable) -> None:
        """Do what was planned `instead`, here and now; nothing where it was done, or never planned."""
        with self._changed:
            planned = self._planned.pop(name, None)
        if planned is not None:
            planned.instead()

    def _work(self) -> None:
        while True:
            with self._changed:
                act = self._await_due()
            act()

    def _await_due(self) -> Callable[[], None]:
        while True:
            name = next(iter(self._planned), None)
            if name is None:
                self._changed.wait()
                continue
            left_s = self._planned[name].at_s - clock.elapsed_s()
            if left_s <= 0:
                return self._planned.pop(name).act
            self._changed.wait(left_s)
