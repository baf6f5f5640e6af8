"""Live progress on a terminal: how many attempts are done and what is under way; silent elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from contracts.attempt import AttemptRecord
from contracts.lines import RunnerStarted
from contracts.outcome import Outcome
from contracts.plan import Plan
from driver.ports import Progress
from driver.standard_error import bearing_stderr


class ProgressLine:
    """Counts events and hands the text of a status line to `show`."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._planned = 0
        self._done = dict.fromkeys(Outcome, 0)

    def begin(self, plan: Plan) -> Progress:
        """The progress of one plan."""
        self._planned = sum(case.repeats for case in plan.cases)
        return self._take

    def _take(self, event: RunnerStarted | AttemptRecord) -> None:
        if isinstance(event, AttemptRecord):
            self._done[event.outcome] += 1
        counts = ", ".join(f"{count} {outcome.value}" for outcome, count in self._done.items() if count)
        self._show(
            f"{sum(self._done.values())} of {self._planned} attempts ({counts or 'none finished'}): {event.case_id}"
        )


def _nothing(text: str) -> None:
    """Show nothing: stderr is no terminal."""


@contextmanager
def progress_line() -> Iterator[ProgressLine]:
    """A live line on stderr where it is a terminal and CI is not set; silent elsewhere."""
    if not sys.stderr.isatty() or os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        yield ProgressLine(_nothing)
        return
    from rich.console import Console  # noqa: PLC0415 - costs 50 ms, only for a terminal

    with Console(file=bearing_stderr()).status("starting the world") as status:
        yield ProgressLine(status.update)
