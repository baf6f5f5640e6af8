"""Who owns what a run makes outside its directory, in words that outlive a crash, and whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def own_identity() -> str:
    """`pid:start time:boot id:host` of this process, as labels and the names of scratch folders carry it."""
    return ":".join((str(os.getpid()), _started_at(os.getpid()), _boot_id(), socket.gethostname()))


def owner_is_gone(owner: str) -> bool:
    """True when the owner surely runs no more; of another machine's owner nobody here can tell, so it may live."""
    parts = owner.split(":", 3)
    if len(parts) != 4 or not parts[0].isdigit():  # noqa: PLR2004 - the four parts above
        return False
    pid, started_at, boot_id, host = parts
    if host != socket.gethostname():
        return False
    return boot_id != _boot_id() or started_at != _started_at(int(pid))


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _started_at(pid: int) -> str:
    """Field 22 of /proc/PID/stat, so that a pid given to another process is not taken for it; empty when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in {"Z", "X"} else fields[19]
