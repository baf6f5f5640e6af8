"""What standard output is shown on."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping

from ledger.screen_text import PLAIN_SCREEN, Screen


def screen_of_stdout(environ: Mapping[str, str]) -> Screen:
    """The terminal behind stdout, without colour under NO_COLOR or CI; a plain screen where there is none."""
    if not sys.stdout.isatty() or environ.get("TERM") == "dumb":
        return PLAIN_SCREEN
    return Screen(
        width=max(40, shutil.get_terminal_size().columns),
        is_terminal=True,
        has_colour=not environ.get("NO_COLOR") and not environ.get("CI"),
    )
