"""Paths as flags take them: a name that no file can have is a usage error, wherever it is looked at later."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

_NOT_THERE = (FileNotFoundError, NotADirectoryError)


class AnyPath(click.Path):
    """Of something that is there or not; what the system cannot even look for is refused."""

    def __init__(self) -> None:
        """Every check beyond that is the command's."""
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; raises click.BadParameter."""
        if problem := path_problem(os.fspath(value)):
            self.fail(problem, param, ctx)
        return super().convert(value, param, ctx)


def path_problem(text: str) -> str | None:
    """Why nothing can be of that name, or None."""
    try:
        os.lstat(text)
    except _NOT_THERE:
        return None
    except (OSError, ValueError) as error:
        return f"{text[:100]!r} cannot be looked at: {getattr(error, 'strerror', None) or error}"
    return None
