"""What `verify` says of a run that it must refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver.verify import verify_run
from tests.fakes.written_runs import seal_again


def refused(path: Path) -> LabError:
    with pytest.raises(LabError) as caught:
        verify_run(path)
    assert caught.value.exit_code is Exit.EVIDENCE
    return caught.value


def altered(path: Path) -> str:
    error = refused(path)
    assert error.code is ErrorCode.ALTERED
    return str(error)


def diverges(path: Path) -> str:
    seal_again(path)
    error = refused(path)
    assert error.code is ErrorCode.RESULTS_DIVERGE
    return str(error)
