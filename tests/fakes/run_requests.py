"""A run as a command line without flags would ask for it, and a registry that has nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from contracts.errors import ErrorCode, LabError
from driver.request import RunRequest

REQUEST = RunRequest(
    suite=Path(),
    agent=None,
    model=None,
    prompt=None,
    case_ids=(),
    only=(),
    repeat=1,
    concurrency=1,
    seed=None,
    timeout_s=None,
    suite_timeout_s=None,
    profiles=(),
    evidence=Path("evidence"),
    run_id="run-1",
    capture="metadata",
    env=(),
    not_secret=(),
    command=("labctl", "run"),
)


def no_registry(reference: str) -> NoReturn:
    """Fetches nothing."""
    raise LabError(ErrorCode.AGENT_UNRESOLVED, f"{reference} was asked for")
