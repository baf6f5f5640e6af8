"""labctl doctor --self-test on the engine: the same controls hold there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver.self_test.expected import EXPECTED

pytestmark = pytest.mark.engine


def test_a_lab_on_compose_is_believed_and_leaves_no_folder(images: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", "doctor", "--self-test"]
    env = {**os.environ, "PYTHONPATH": str(images), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*argv, "--backend", "compose"], cwd=images, env=env, capture_output=True, text=True, timeout=400, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok       runs: 2 runs on the backend compose, sealed\n" in done.stdout
    assert done.stdout.count("\nok       agent ") == len(EXPECTED)
    assert list(tmp_path.iterdir()) == []
