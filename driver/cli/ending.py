"""What `run` and `resume` say on stdout when a run is sealed: its summary, the comparison, and its path last."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from driver.cli.output import say

if TYPE_CHECKING:
    from driver.pipeline import RunOutcome


def load_ending() -> Callable[[RunOutcome], int]:
    """What says it and returns the exit status; loaded while the stack comes up, it takes a tenth of a second."""
    from driver.screen import screen_of_stdout  # noqa: PLC0415 - that is the point
    from ledger.summary import summary_text  # noqa: PLC0415 - as above

    def end(outcome: RunOutcome) -> int:
        screen = screen_of_stdout(os.environ)
        say(summary_text(outcome.grading, run=str(outcome.path), screen=screen))
        if outcome.comparison is not None:
            from comparison.table import table_text  # noqa: PLC0415 - most runs compare nothing

            say(table_text(outcome.comparison, screen=screen))
        say(outcome.path)
        return int(outcome.exit_code)

    return end
