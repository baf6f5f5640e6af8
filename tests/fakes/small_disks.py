"""A disk of a few hundred KiB that a test may fill, or set read-only; only root can have one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_KIB = 1024


class SmallDisk:
    """A tmpfs on a folder of a test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self, *, but_kib: int = 0) -> None:
        """Until nothing more can be written, or only so much."""
        free = os.statvfs(self.path)
        with self._filler.open("ab") as stream:
            stream.write(bytes(max(0, free.f_bavail * free.f_frsize - but_kib * _KIB)))

    def give_back(self) -> None:
        """What `fill` took."""
        self._filler.unlink()

    def remount(self, options: str) -> None:
        """With other options, such as `ro`."""
        subprocess.run(["mount", "-o", f"remount,{options}", self.path], check=True, timeout=30)


@contextmanager
def small_disk(path: Path, *, options: str = "size=600k") -> Iterator[SmallDisk]:
    """Within: it is there, empty; without the power to mount one the test is skipped, with mount's own words."""
    path.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", options, "labctl-test", str(path)]
    mounted = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    if mounted.returncode:
        pytest.skip(f"no small disk can be made here: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True, timeout=30)
