"""The agent's view of a suite: a copy without whatever tells what is expected or what the world will answer."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from contracts.evidence import is_run_folder
from contracts.suite.links import leads_inside
from contracts.suite.suite import Suite
from contracts.suite.withheld import is_withheld

_FOLDER_MODE, _PROGRAM_MODE, _FILE_MODE = 0o755, 0o755, 0o644
NEVER_SEEN = frozenset({".git", "__pycache__", "evidence", "results"})
"""Folders of which no agent sees anything: version control and results of other runs hold the expectations too."""


def stage_agent_view(suite: Suite, to: Path) -> None:
    """Copies the suite to the directory `to`, which may be there, without what no agent may read.

    Left out are cases, routes, state, models, sessions and suite.toml (under their usual and their configured names),
    version control, run directories, and links that lead to any of these or out of the suite. Folders and executable
    files are 0755, other files 0644, whatever they were. Raises OSError where reading or writing fails.
    """
    root = suite.root.resolve()
    to.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    for folder, relative in _folders(suite, root, to.resolve()):
        target = to / relative
        target.mkdir(exist_ok=True)
        target.chmod(_FOLDER_MODE)
        for source in sorted(folder.iterdir()):
            if _is_for_agents(suite, root, source):
                _copy(source, target / source.name)


def _folders(suite: Suite, root: Path, to: Path) -> Iterator[tuple[Path, Path]]:
    """Every folder of the view with its path below the root, parents first; links to folders are not followed."""
    for name, below, files in os.walk(root):
        folder = Path(name)
        if is_run_folder(files) and folder != root:
            below.clear()
            continue
        below[:] = sorted(one for one in below if _is_folder_for_agents(suite, root, folder / one, to))
        yield folder, folder.relative_to(root)


def _is_folder_for_agents(suite: Suite, root: Path, folder: Path, to: Path) -> bool:
    withheld = is_withheld(suite.settings, folder.relative_to(root).as_posix(), sessions=suite.sessions.values())
    return not withheld and folder.name not in NEVER_SEEN and folder != to


def _is_for_agents(suite: Suite, root: Path, source: Path) -> bool:
    """True for a regular file that is not withheld, neither by its own name nor by that of its link's target."""
    if not leads_inside(source, root):
        return False
    names = (source.relative_to(root).as_posix(), source.resolve().relative_to(root).as_posix())
    sessions = suite.sessions.values()
    withheld = (is_withheld(suite.settings, name, sessions=sessions) for name in names)
    return not any(withheld) and not any(NEVER_SEEN.intersection(name.split("/")) for name in names)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(_PROGRAM_MODE if source.stat().st_mode & stat.S_IXUSR else _FILE_MODE)
