"""All rules that a suite must keep, beyond the shape of its files."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.suite.files import SuiteFiles
from contracts.suite.problems import Problem


def lint(files: SuiteFiles) -> Iterator[Problem]:
    """Everything that is wrong with the suite, file by file."""
    for index, case in files.cases.items:
        if case.expect.is_empty:
            yield Problem("expects nothing; a case needs at least one expectation", files.cases.place(index) / "expect")
