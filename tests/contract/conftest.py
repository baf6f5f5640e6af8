"""The small suite that the fixture API of most tests here serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.small_world import small_suite


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_suite(tmp_path_factory.mktemp("suites") / "suite")
