"""One fixture API of a small suite for all tests here; a file about another suite has an `api` of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.small_world import small_suite


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_suite(tmp_path_factory.mktemp("suites") / "suite")


@pytest.fixture(scope="session")
def api(suite: Path) -> Iterator[FixtureProcess]:
    with FixtureProcess(suite) as process:
        yield process
