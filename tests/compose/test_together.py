"""Many runs started in the same second: nothing that they share may be fixed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.compose.launching import RUN_S, labctl_of_checkout

pytestmark = pytest.mark.engine

PROCESS_RUNS, COMPOSE_RUNS = 12, 4
CASES = ("--case", "refund-approval-required", "--case", "refund-is-recorded")


def test_twelve_process_runs_and_four_compose_runs_at_once_make_sixteen_sealed_directories(
    images: Path, tmp_path: Path
) -> None:
    labctl = labctl_of_checkout(tmp_path)
    evidence, scratch = tmp_path / "evidence", tmp_path / "scratch"
    scratch.mkdir()
    ways = ["compose"] * COMPOSE_RUNS + ["process"] * PROCESS_RUNS
    started = [
        subprocess.Popen(
            [*labctl.argv, "run", *CASES, "--backend", backend, "--evidence", str(evidence)],
            cwd=labctl.root,
            env={**os.environ, "TMPDIR": str(scratch)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for backend in ways
    ]
    try:
        said = [process.communicate(timeout=RUN_S) for process in started]
    finally:
        for process in started:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=RUN_S)
    assert [process.returncode for process in started] == [0] * len(ways), said
    folders = [stdout.splitlines()[-1] for stdout, _ in said]
    assert len(set(folders)) == PROCESS_RUNS + COMPOSE_RUNS
    assert sorted(folders) == sorted(str(path) for path in evidence.iterdir())
    verified = labctl.call("verify", *folders)
    assert verified.returncode == 0, verified.stderr
    assert len(verified.stdout.splitlines()) == len(folders)
    assert list(scratch.iterdir()) == []
