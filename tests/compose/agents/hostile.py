"""An agent that does, in every case, another thing that a lab must survive; it says what it got before it goes on."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

LEAVE = Path(f"/dev/shm/leave-{os.environ['LAB_CASE_ID']}")  # noqa: S108 - in the container
PLACES = tuple(map(Path, ("/tmp", "/dev/shm", "/working_dir", os.environ["TMPDIR"])))  # noqa: S108 - in the container
SLEEP = [sys.executable, "-ISc", "import time; time.sleep(600)"]


def say(**found: Any) -> None:
    """The answer that every case expects, with what was found."""
    print(json.dumps({"type": "message", "text": json.dumps({"said": "the answer", **found})}), flush=True)


def seen_of_others() -> dict[str, Any]:
    """Whose processes and files stand here beside the own ones."""
    own = os.environ["LAB_CASE_ID"]
    cases = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            cases |= {
                each.removeprefix("LAB_CASE_ID=") for each in path.read_text().split("\0") if "LAB_CASE_ID=" in each
            }
    files = [path.name for place in PLACES for path in place.glob("left-by-*")]
    return {"cases": sorted(cases - {own}), "files": sorted(files)}


def be_steady() -> None:
    """Work, as an agent does, until it is told to leave; one call of a tool every half second."""
    beats: list[float] = []
    cases: set[str] = set()
    until = time.monotonic() + 450
    while not LEAVE.exists() and time.monotonic() < until:
        with urllib.request.urlopen(os.environ["FIXTURE_URL"] + "/orders/a-1", timeout=60) as response:  # noqa: S310 - http
            response.read()
        time.sleep(0.5)
        beats.append(round(time.time(), 2))
        cases |= set(seen_of_others()["cases"])
    say(beats=beats, cases=sorted(cases), files=seen_of_others()["files"])


def be_quiet() -> None:
    """Nothing for a while: what the one beside gets done meanwhile is the measure for all others."""
    time.sleep(8)
    say()


def look() -> None:
    say(**importlib.import_module("inside").report())


def forked() -> int:
    """As `os.fork`; -1 where the kernel refuses one more."""
    try:
        return os.fork()
    except OSError:
        return -1


def have_children() -> None:
    """As many as there may be, which stay."""
    children = 0
    while children < 1000 and (pid := forked()) >= 0:
        if pid == 0:
            time.sleep(600)
        children += 1
    say(children=children)


def bomb() -> None:
    """Every process makes more, for ever."""
    while True:
        if forked() < 0:
            time.sleep(0.01)  # the neighbours of the machine are no part of this test


def fill_memory() -> None:
    say()
    blocks = []
    while True:
        blocks.append(b"x" * (8 << 20))


def fill_memory_with_many() -> None:
    """Processes that are each as small as one of the lab's: whom will the kernel choose?"""
    children = []
    for number in range(16):
        if (pid := os.fork()) == 0:
            block = bytes([number + 1]) * (24 << 20)
            time.sleep(600 + block[0])
        children.append(pid)
        time.sleep(0.02)
    died = [number for number in (os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]) for _ in range(4)) if number == -9]
    say(died=len(died))
    sys.exit(3)


def fill_disks() -> None:
    """Each place to its brim; what was left in /tmp stays there."""
    written = {}
    for place in (place for place in PLACES if place.is_dir() and os.access(place, os.W_OK)):
        path = place / f"left-by-{os.environ['LAB_CASE_ID']}"
        with path.open("wb", buffering=0) as file:
            written[str(place)] = brim(file.write)
        if place != PLACES[0]:
            path.unlink()
    say(written=written)
    with (PLACES[0] / "one-more").open("w") as file:
        file.write("x" * 100_000)


def brim(write: Callable[[bytes], int | None]) -> int:
    """How many bytes went in."""
    done = 0
    with suppress(OSError):
        while wrote := write(b"x" * (1 << 20)):
            done += wrote
    return done


def fill_folder() -> None:
    """More empty files than there may be."""
    folder = Path(os.environ["TMPDIR"])
    made = 0
    with suppress(OSError):
        while True:
            (folder / f"{made}").touch()
            made += 1
    say(made=made)
    (folder / "one-more").touch()


def open_files() -> None:
    files: list[Any] = []
    with suppress(OSError):
        while len(files) < 10_000:
            files.append(Path("/dev/null").open("rb"))  # noqa: SIM115 - that is the point
    count = len(files)
    files.clear()
    say(opened=count)
    sys.exit(0 if count >= 10_000 else 4)


def flood(descriptor: int, piece: bytes) -> None:
    say()
    while True:
        os.write(descriptor, piece)


def leave_orphans() -> None:
    """Thirty sleepers of sessions of their own, whose parent is gone, and which hold this process's output."""
    starter = "import subprocess, sys\nfor _ in range(30): subprocess.Popen(sys.argv[1:], start_new_session=True)"
    subprocess.run([sys.executable, "-ISc", starter, *SLEEP], check=True)
    say()


def keep_zombies() -> None:
    dead = 0
    while dead < 1000 and (pid := forked()) >= 0:
        if pid == 0:
            os._exit(0)
        dead += 1
    say(zombies=dead)


def close_output() -> None:
    say()
    os.close(1)
    os.close(2)
    time.sleep(0.5)
    os._exit(0)


def signal_the_first() -> None:
    """Everything that can be sent to the lab's own first process; then work goes on."""
    refused = []
    for number in sorted(signal.valid_signals()):
        try:
            os.kill(1, number)
        except OSError:
            refused.append(int(number))
    time.sleep(0.5)
    say(refused=refused)


def kill_own_warden() -> None:
    say()
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def kill_everybody() -> None:
    say()
    os.kill(-1, signal.SIGKILL)
    time.sleep(600)


CASES: dict[str, Callable[[], None]] = {
    "steady": be_steady,
    "looks": look,
    "quiet": be_quiet,
    "has-children": have_children,
    "fork-bomb": bomb,
    "memory-hog": fill_memory,
    "memory-hog-of-many": fill_memory_with_many,
    "disk-hog": fill_disks,
    "inode-hog": fill_folder,
    "file-hog": open_files,
    "floods-lines": lambda: flood(1, b"x" * 99 + b"\n"),
    "floods-unbroken": lambda: flood(1, b"x" * 4096),
    "floods-stderr": lambda: flood(2, b"x" * 99 + b"\n"),
    "floods-stderr-unbroken": lambda: flood(2, b"x" * 4096),
    "orphans": leave_orphans,
    "zombies": keep_zombies,
    "closes-its-output": close_output,
    "signals-the-first": signal_the_first,
    "kills-its-warden": kill_own_warden,
    "steady-later": be_steady,
    "kills-everybody": kill_everybody,
}
CASES[json.load(sys.stdin)["caseId"]]()
