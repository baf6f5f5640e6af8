"""Which file names a run directory may hold: those that one line of `sha256sum` spells without escapes."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def name_problem(name: str) -> str | None:
    r"""What is wrong with a path relative to the run directory, or None.

    `sha256sum` escapes backslashes and line ends, and readers disagree on what is not UTF-8, so that such names
    would have more than one spelling in COMPLETE.
    """
    parts = name.split("/")
    if name.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        return "is no plain path below the run directory"
    if _CONTROL.search(name):
        return "holds a control character"
    if "\\" in name:
        return "holds a backslash"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    return None
