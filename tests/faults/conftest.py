"""The real toxiproxy for every test here: none means skipped with the reason, failed where LABCTL_REQUIRE_ENGINE=1."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.fault_runs import FaultRun
from tests.fakes.toxiproxies import NONE, find_toxiproxy

ROOT = Path(__file__).resolve().parents[2]
RUN_S = 300.0

Labctl = Callable[..., FaultRun]


@pytest.fixture(scope="session")
def toxiproxy() -> str:
    """Path of the program."""
    found = find_toxiproxy()
    if found is None and os.environ.get("LABCTL_REQUIRE_ENGINE") == "1":
        pytest.fail(f"{NONE}, and LABCTL_REQUIRE_ENGINE=1", pytrace=False)
    if found is None:
        pytest.skip(NONE)
    return found


@pytest.fixture(scope="session")
def labctl(toxiproxy: str, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    """Runs `labctl run --backend process` with these words to its end."""

    def run(*words: str, **env: str) -> FaultRun:
        evidence = tmp_path_factory.mktemp("evidence")
        argv = [str(Path(sys.executable).with_name("labctl")), "run", "--backend", "process", *words]
        done = subprocess.run(
            [*argv, "--run-id", "run-1", "--evidence", str(evidence)],
            cwd=ROOT,
            env={**os.environ, "LABCTL_TOXIPROXY": toxiproxy, **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_S,
        )
        return FaultRun(folder=evidence / "run-1", exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    return run
