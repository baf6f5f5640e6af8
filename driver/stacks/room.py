"""How much an agent may write where it can: a tmpfs counts as memory, so each place is a share of memory_mb."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contracts.suite.settings import Limits

WORKING_DIR_SHARE, OWN_WORK_SHARE, TMP_SHARE, SHM_SHARE = 6, 4, 2, 1
"""In sixteenths, of an attempt's own container: full, they leave 3 to its processes and to the kernel's own records."""
SHARED_WORK_SHARE = WORKING_DIR_SHARE + OWN_WORK_SHARE
"""In a shared container /work has the working folders too."""
NOFILE = 8192
"""Open files of one process."""
_PAGE = 4096
_BYTES_OF_A_FILE = 8192
"""A file takes about 1 KB of the kernel's memory even when it is empty, so their number is bounded as well."""


@dataclass(frozen=True)
class Room:
    """What fits in one place."""

    mb: int
    files: int

    @property
    def options(self) -> str:
        """For a tmpfs."""
        return f"size={self.mb}m,nr_inodes={self.files}"


def room(share: int, limits: Limits) -> Room:
    """That share, in sixteenths, of the container's memory; at least 1 MB."""
    mb = max(limits.memory_mb * share // 16, 1)
    return Room(mb=mb, files=mb * 2**20 // _BYTES_OF_A_FILE)


def refuse_too_much(folder: Path, *, name: str, limits: Limits) -> None:
    """Raise OSError for a working_dir that its place in the container could not take."""
    holds = room(WORKING_DIR_SHARE, limits)
    sizes = [-(-path.stat().st_size // _PAGE) * _PAGE for path in folder.rglob("*")]
    if sum(sizes) > holds.mb << 20 or len(sizes) >= holds.files:
        raise OSError(
            f"the working_dir {name} has {len(sizes)} entries of {sum(sizes) / 2**20:.1f} MB, and with memory_mb = "
            f"{limits.memory_mb} there is room for {holds.files} of {holds.mb} MB: raise memory_mb of [limits]"
        )
