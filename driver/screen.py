"""What standard output is shown on."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace

from ledger.screen_text import PLAIN_SCREEN, Screen


def screen_of_stdout(environ: Mapping[str, str]) -> Screen:
    """The terminal behind stdout, without colour under NO_COLOR or CI; a plain screen where there is none."""
    is_ascii = not (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    if not sys.stdout.isatty() or environ.get("TERM") == "dumb":
        return replace(PLAIN_SCREEN, is_ascii=is_ascii)
    return Screen(
        width=max(40, shutil.get_terminal_size().columns),
        is_terminal=True,
        is_ascii=is_ascii,
        has_colour=not environ.get("NO_COLOR") and not environ.get("CI"),
    )
