"""The rules of a case's working directory, which is copied for each attempt at it."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from contracts.suite.reading import SuiteFolder
from contracts.suite.suite import WORKING_DIRS_FOLDER


def name_refusal(relative: Path) -> str | None:
    """Why a file of that name cannot be part of a digest, or None."""
    try:
        os.fspath(relative).encode()
    except UnicodeEncodeError:
        return f'"{relative.as_posix()}" has a name that is not UTF-8'
    return None


def working_dir_refusal(folder: SuiteFolder, name: str, *, beside: str = "") -> str | None:
    """Why the folder of that name cannot be used, or None; `beside`: the folder that holds working_dirs/."""
    base = posixpath.join(beside, WORKING_DIRS_FOLDER)
    relative = posixpath.join(base, name)
    if why := folder.refusal(relative, folder=True):
        return why
    if not posixpath.normpath(relative).startswith(f"{base}/"):
        return f'expected the name of a folder in {base}, found the text "{name}"'
    for path in sorted((folder.root / relative).rglob("*")):
        if not folder.holds(path):
            return f'"{path.relative_to(folder.root).as_posix()}" leads outside the suite'
        if why := name_refusal(path.relative_to(folder.root)):
            return why
    return None
