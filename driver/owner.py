"""Who owns what a run makes outside its directory, in words that outlive a crash, and whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Literal

Life = Literal["lives", "gone", "unseen"]
"""`unseen`: of another machine or PID namespace, so nobody here can tell, and it may live."""

_PARTS = 5
_OLD_PARTS = 4
"""Of a labctl that did not name the PID namespace."""


def own_identity() -> str:
    """`pid:start time:boot id:PID namespace:host` of this process, as labels and names of scratch folders carry it."""
    return ":".join((str(os.getpid()), _started_at("self") or "", _boot_id(), _pid_namespace(), socket.gethostname()))


def life_of(owner: str) -> Life:
    """Whether the process lives that has, or had, this identity; a pid means something in its namespace only."""
    parts = owner.split(":", _PARTS - 1)
    if len(parts) == _OLD_PARTS:
        parts.insert(-1, "")
    if len(parts) != _PARTS or not parts[0].isdigit():
        return "unseen"
    pid, started_at, boot_id, namespace, host = parts
    if host != socket.gethostname():
        return "unseen"
    if boot_id != _boot_id():
        return "gone"
    if not namespace or namespace != _pid_namespace():
        return "unseen"
    now = _started_at(pid)
    if now is None:
        return "unseen"
    return "lives" if now == started_at else "gone"


def owner_is_gone(owner: str) -> bool:
    """True when the owner surely runs no more."""
    return life_of(owner) == "gone"


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _pid_namespace() -> str:
    """Its inode; empty where /proc shows the pids of another one, so that nothing read there is about ours."""
    status = Path("/proc/self/status").read_text().splitlines()
    pids = next((line.split()[1:] for line in status if line.startswith("NSpid:")), [])
    return str(Path("/proc/self/ns/pid").stat().st_ino) if len(pids) == 1 else ""


def _started_at(pid: str) -> str | None:
    """Field 22 of /proc/PID/stat, so that a pid given to another process is not taken for it.

    Empty when it is gone; None where it is there but hidden, as by /proc's hidepid from other users.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None if _is_there(pid) else ""
    return "" if fields[0] in {"Z", "X"} else fields[19]


def _is_there(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
