"""The sealed run that the tests here change; a file about another run has a `run` of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.written_runs import sealed_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sealed run of two cases, one of which failed."""
    return sealed_run(tmp_path)
