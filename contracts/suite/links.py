"""Links in a suite: a file of the suite is what the evidence keeps and an agent may see, so a link must stay inside."""

from __future__ import annotations

from pathlib import Path

LEFT_OUT = frozenset({".git", "__pycache__", "evidence", ".venv", "node_modules", "results"})
"""Folders that are no part of a suite: never staged, never kept."""


def leads_inside(path: Path, root: Path) -> bool:
    """True for a path that is a regular file within the root after all links are followed; loops lead nowhere."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return target.is_file() and target.is_relative_to(root.resolve())
