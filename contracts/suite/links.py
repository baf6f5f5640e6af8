"""Links in a suite: a file of the suite is what the evidence keeps and an agent may see, so a link must stay inside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from contracts.suite.problems import Problem

LEFT_OUT = frozenset({".git", "__pycache__", "evidence", ".venv", "node_modules", "results"})
"""Folders that are no part of a suite: never staged, never kept."""


def lint_links(root: Path) -> Iterator[Problem]:
    """Links that lead out of the suite or nowhere, and links to folders, which no copy of the suite would follow."""
    inside = root.resolve()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in sorted([*folders, *names]):
            path = Path(folder, name)
            if not path.is_symlink():
                continue
            shown = f"{root.name}/{path.relative_to(root).as_posix()}"
            target = path.resolve()
            if not target.exists() or not target.is_relative_to(inside):
                yield Problem(
                    "is a link that leads out of the suite, or nowhere; put the file itself there", file=shown
                )
            elif target.is_dir():
                yield Problem("is a link to a folder, which is not followed; put the folder itself there", file=shown)
