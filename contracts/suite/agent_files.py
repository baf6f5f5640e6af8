"""Which files of the suite an agent is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from contracts.suite.reading import SuiteFolder
from contracts.suite.settings import Agent

_NAMED_IN_ARGUMENT = re.compile(r"\{suite\}/([^\s'\";|&<>()]+)")
_CACHE = "__pycache__"


def agent_files(folder: SuiteFolder, agent: Agent) -> tuple[Path, ...]:
    """The regular files, sorted: those of the declared `files` globs, else those that its command names as `{suite}/…`.

    A folder stands for all files in it. Nothing outside the suite is ever among them.
    """
    if agent.files is not None:
        paths = {path for pattern in agent.files for path in folder.root.glob(pattern)}
    else:
        paths = {folder.root / name for name in named_in_command(agent)}
    files = {path for one in paths for path in _files_below(one)}
    return tuple(sorted(path for path in files if _CACHE not in path.parts and folder.holds(path)))


def named_in_command(agent: Agent) -> tuple[str, ...]:
    """The paths in the suite that the command names as `{suite}/PATH`, in order."""
    return tuple(name for argument in agent.command or () for name in _NAMED_IN_ARGUMENT.findall(argument))


def _files_below(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (one for one in path.rglob("*") if one.is_file())
    elif path.is_file():
        yield path
