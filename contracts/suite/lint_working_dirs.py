"""The rules of a case's working directory, which is copied for each attempt at it."""

from __future__ import annotations

import posixpath

from contracts.suite.reading import SuiteFolder
from contracts.suite.suite import WORKING_DIRS_FOLDER


def working_dir_refusal(folder: SuiteFolder, name: str, *, beside: str = "") -> str | None:
    """Why the folder of that name cannot be used, or None; `beside`: the folder that holds working_dirs/."""
    base = posixpath.join(beside, WORKING_DIRS_FOLDER)
    relative = posixpath.join(base, name)
    if why := folder.refusal(relative, folder=True):
        return why
    if not posixpath.normpath(relative).startswith(f"{base}/"):
        return f'expected the name of a folder in {base}, found the text "{name}"'
    outside = next((path for path in sorted((folder.root / relative).rglob("*")) if not folder.holds(path)), None)
    return f'"{outside.relative_to(folder.root).as_posix()}" leads outside the suite' if outside else None
