"""A killed daemon's pid file does not keep .ci/engine from starting another one; a live daemon's is left alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / ".ci" / "engine"
SLEEP = shutil.which("sleep") or "sleep"


def drop_stale_pid(pid_file: Path) -> None:
    function = re.search(r"^drop_stale_pid\(\) \{.*?^\}$", ENGINE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert function
    script = f'set -euo pipefail\n{function.group()}\ndrop_stale_pid "$1" dockerd'
    subprocess.run(["bash", "-c", script, "bash", str(pid_file)], check=True, timeout=10)


@pytest.fixture
def pid_file(tmp_path: Path) -> Path:
    return tmp_path / "docker.pid"


def test_the_pid_of_a_live_daemon_stays(tmp_path: Path, pid_file: Path) -> None:
    program = tmp_path / "dockerd"
    shutil.copy(SLEEP, program)
    with subprocess.Popen([str(program), "60"]) as daemon:
        pid_file.write_text(str(daemon.pid), encoding="utf-8")
        drop_stale_pid(pid_file)
        assert pid_file.exists()
        daemon.kill()


def test_the_pid_of_another_process_goes(pid_file: Path) -> None:
    pid_file.write_text(str(os.getpid()), encoding="utf-8")
    drop_stale_pid(pid_file)
    assert not pid_file.exists()


def test_the_pid_of_a_zombie_goes(tmp_path: Path, pid_file: Path) -> None:
    program = tmp_path / "dockerd"
    shutil.copy(SLEEP, program)
    with subprocess.Popen([str(program), "0"]) as daemon:
        deadline = time.monotonic() + 10
        while "\nState:\tZ" not in Path(f"/proc/{daemon.pid}/status").read_text(encoding="utf-8"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        pid_file.write_text(str(daemon.pid), encoding="utf-8")
        drop_stale_pid(pid_file)
        assert not pid_file.exists()


@pytest.mark.parametrize("text", ["", "99999999\n", "no number"])
def test_a_pid_of_nobody_goes(pid_file: Path, text: str) -> None:
    pid_file.write_text(text, encoding="utf-8")
    drop_stale_pid(pid_file)
    assert not pid_file.exists()


def test_no_pid_file_is_no_error(pid_file: Path) -> None:
    drop_stale_pid(pid_file)
    assert not pid_file.exists()
