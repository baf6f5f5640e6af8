"""Whether the owner of something left behind still lives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver.doctor import examine
from driver.owner import own_identity, owner_is_gone
from driver.scratch import dead_scratch, remove_dead_scratch, scratch_folder


def test_this_process_lives() -> None:
    assert not owner_is_gone(own_identity())


def test_a_pid_that_another_process_has_now_is_not_the_owner() -> None:
    pid, _, boot, host = own_identity().split(":", 3)
    assert owner_is_gone(f"{pid}:1:{boot}:{host}")


def test_an_owner_before_the_last_boot_is_gone() -> None:
    pid, started, _, host = own_identity().split(":", 3)
    assert owner_is_gone(f"{pid}:{started}:another-boot:{host}")


@pytest.mark.parametrize("owner", ["", "1:2:3:another-machine", "no words of ours"])
def test_what_nobody_here_can_tell_is_spared(owner: str) -> None:
    assert not owner_is_gone(owner)


def test_a_dead_runs_folder_is_removed_and_a_live_ones_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = "import os, driver.scratch as s; f = s.scratch_folder(); print(f.__enter__(), flush=True); os._exit(9)"
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(root)}
    dead = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False).stdout
    with scratch_folder() as live:
        found = next(finding for finding in examine(tmp_path) if finding.name == "scratch folders")
        assert found.error is not None
        assert str(found.error).splitlines() == [
            f"labctl: leftovers: dead runs left 1 scratch folder: {dead.strip()}",
            "next: labctl clean",
        ]
        assert remove_dead_scratch() == [Path(dead.strip())]
        assert live.is_dir()
        assert dead_scratch() == []
    assert list(tmp_path.iterdir()) == []
