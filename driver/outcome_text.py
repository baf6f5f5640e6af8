"""What a finished run prints, fitted to where stdout goes."""

from __future__ import annotations

import os
import shutil
import sys

from driver.pipeline import RunOutcome
from ledger.summary import Screen, summary_text

PIPED_COLUMNS = 120
"""Where stdout is no terminal nobody says how wide it is."""


def screen_of_stdout() -> Screen:
    """The screen that stdout is; colour only on a terminal, and not where NO_COLOR or CI says so."""
    is_terminal = sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if is_terminal else PIPED_COLUMNS
    plain = os.environ.get("NO_COLOR") or os.environ.get("CI") or os.environ.get("TERM") == "dumb"
    return Screen(width=columns, is_terminal=is_terminal, has_colour=is_terminal and not plain)


def outcome_text(outcome: RunOutcome) -> str:
    """Table, totals, what did not pass and why, and the next command."""
    return summary_text(outcome.grading, run=str(outcome.path), screen=screen_of_stdout())
