"""The suite and the runner that tests here share; a file about another suite has a `suite` of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.host_runner import Runner
from tests.fakes.rich_suite import rich_suite


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich_suite(tmp_path_factory.mktemp("suites") / "suite")


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """A runner with its host; afterwards neither a process nor a directory of it is left."""
    runner = Runner(tmp_path / "work")
    try:
        yield runner
    finally:
        runner.leave()
        left, directories = runner.agents(), list(runner.work.iterdir())
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert left == []
    assert directories == []
