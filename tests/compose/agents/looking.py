"""An agent that looks around in its container, as its input says, and tells what it found."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

MINE = "left-by-an-attempt"


def processes() -> list[str]:
    """The command lines of everything that can be seen."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return lines


def files() -> dict[str, str]:
    """What is in the folders that can be written: path to content."""
    places = [path for top in ("/working_dir", "/work", "/tmp") for path in sorted(Path(top).rglob("*"))]  # noqa: S108
    return {str(path): path.read_text(errors="replace")[:200] for path in places if path.is_file()}


def leave_something(place: str) -> str:
    """A file for those who come next."""
    path = Path(place, MINE)
    path.write_text("x")
    return str(path)


def neighbours_who_answer(token: str) -> list[str]:
    """Addresses of this network whose agent_host lets this one in."""
    own = socket.gethostbyname(socket.gethostname())
    let_in = []
    for last in range(2, 20):
        address = f"{own.rpartition('.')[0]}.{last}"
        if address == own:
            continue
        try:
            with socket.create_connection((address, 7070), 0.3) as connection:
                connection.sendall(token.encode() + b"\n")
                let_in.append(f"{address} {'hello' if connection.recv(99) else 'dropped'}")
        except OSError:
            continue
    return let_in


def look(task: dict[str, Any]) -> dict[str, Any]:
    """Everything, before and after leaving something behind."""
    found: dict[str, Any] = {
        "env": dict(os.environ),
        "files": files(),
        "processes": processes(),
        "cwd": str(Path.cwd()),
        "left": [leave_something(place) for place in ("/work", "/tmp", "/working_dir")],  # noqa: S108 - in the container
        "limits": {
            name: Path("/sys/fs/cgroup", name).read_text().strip()
            for name in ("memory.max", "pids.max", "cpu.max", "memory/memory.limit_in_bytes", "pids/pids.max")
            if Path("/sys/fs/cgroup", name).is_file()
        },
    }
    if "neighbours" in task["messages"][0]["content"]:
        time.sleep(1)  # the others' containers are up meanwhile
        found["neighbours"] = neighbours_who_answer("a guess")
    return found


print(json.dumps({"type": "message", "text": json.dumps(look(json.load(sys.stdin)))}))
