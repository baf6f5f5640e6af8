"""Writes a suite and returns the problems that loading finds, as a person reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.suite.loading import load_suite
from tests.fakes.suite_changes import Change
from tests.fakes.suite_folder import SuiteFolder


def problems(folder: SuiteFolder) -> list[str]:
    """The problems of a suite that must be refused."""
    with pytest.raises(LabError) as caught:
        load_suite(folder.write())
    assert caught.value.code is ErrorCode.SUITE_INVALID
    return [str(found) for found in caught.value.found]


def assert_exact_problem(root: Path, change: Change, *, place: str, words: str) -> None:
    """The change to a right suite is one problem, at exactly this place below the suite and with that in its text."""
    folder = SuiteFolder(root / "desk")
    change(folder)
    found = [one.partition(": ") for one in problems(folder)]
    assert [(where, words in text) for where, _, text in found] == [(f"desk/{place}", True)], found


def assert_only_problem(root: Path, change: Change, *, where: str, words: str) -> None:
    """The change to a right suite is one problem, with this in its place and that in its text."""
    folder = SuiteFolder(root / "desk")
    change(folder)
    found = problems(folder)
    assert len(found) == 1, found
    place, _, text = found[0].partition(": ")
    assert place.startswith("desk/")
    assert where in place
    assert words in text
