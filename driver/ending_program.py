"""`python ending_program.py FD`: ends every descendant, removes what is on the engine, settles the files, and exits.

The driver becomes this program when it has no time left (`driver.at_once`); FD holds the order as JSON. It runs by its
path and imports nothing of the checkout. Every wait in it is bounded.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

KILL_S = 10.0
"""How long processes may take to be gone after SIGKILL."""
SWEEP_S = 20.0
"""How long the engine may take to remove everything."""
CALL_S = 10.0
LATE_S = 2.0
"""How long the engine is watched for what it is still making for a client that was ended in the middle."""
_LOOK_S = 0.1
_KEPT_LABEL = "labctl.kept"
_PART = ".labctl-part-"
_MOST_FAILURES = 2
_SHOW_CURSOR = "\x1b[?25h"
_LISTS = {
    "container": ("ps", "--all", "--quiet", "--no-trunc"),
    "network": ("network", "ls", "--quiet", "--no-trunc"),
    "volume": ("volume", "ls", "--quiet"),
}
_REMOVALS = {
    "container": ("rm", "--force", "--volumes"),
    "network": ("network", "rm"),
    "volume": ("volume", "rm", "--force"),
}


class EngineError(Exception):
    """The engine does not answer, or not in time."""


def main(order: Mapping[str, Any]) -> None:
    """Do what is owed, and exit with the given status; what could not be done is told on stderr."""
    killed, told = _end_descendants()
    if order["labels"]:
        told += _swept(order["labels"], takes_kept=order["takesKept"], watches=killed)
    told += _end_descendants()[1]
    told += [line for path in order["remove"] for line in _removed(Path(path))]
    told += [line for path, text in order["write"].items() for line in _written(Path(path), text)]
    cursor = _SHOW_CURSOR if os.isatty(2) else ""  # a live line may have hidden it
    with suppress(OSError):  # nobody reads it any more
        os.write(
            2,
            cursor.encode()
            + "".join(f"{line}\n" for line in (*told, *order["told"])).encode(errors="backslashreplace"),
        )
    os._exit(order["exitCode"])


def _end_descendants() -> tuple[bool, list[str]]:
    """SIGKILL to all until none is left: whether there was one, and what is to be told."""
    until = time.monotonic() + KILL_S
    was_one = False
    while living := list(_descendants()):
        was_one = True
        if time.monotonic() > until:
            return True, [f"labctl: warning: processes that do not end: {', '.join(map(str, living))}"]
        for pid in living:
            with suppress(ProcessLookupError, PermissionError):  # it ended, or is told of above
                os.kill(pid, signal.SIGKILL)
        _reap()
        time.sleep(0.005)
    _reap()
    return was_one, []


def _descendants() -> Iterator[int]:
    """Living ones; an orphan among them has become a child of this process."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended while it was looked at
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in {"Z", "X"}:
                children.setdefault(int(parent), []).append(int(stat.parent.name))
    waiting = [os.getpid()]
    while waiting:
        found = children.get(waiting.pop(), [])
        waiting += found
        yield from found


def _reap() -> None:
    with suppress(ChildProcessError):  # none is left
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _swept(labels: Sequence[str], *, takes_kept: bool, watches: bool) -> list[str]:
    """Remove everything with one of the labels; with `watches`, also what turns up a little later."""
    until = time.monotonic() + SWEEP_S
    quiet_at = time.monotonic() + (LATE_S if watches else 0.0)
    failures, left = 0, ""
    while time.monotonic() < until and failures < _MOST_FAILURES:
        try:
            found = _found(labels, takes_kept=takes_kept)
            left = ", ".join(f"{kind} {name[:12]}" for kind, names in found.items() for name in names)
            for kind, names in found.items():
                _call(*_REMOVALS[kind], *names)
        except EngineError as error:
            failures, left = failures + 1, str(error)
            continue
        if not left and time.monotonic() >= quiet_at:
            return []
        time.sleep(_LOOK_S)
    return [f"labctl: warning: the engine may still have things of this run: {left}; next: labctl clean"]


def _found(labels: Sequence[str], *, takes_kept: bool) -> dict[str, list[str]]:
    """Kind to ids, in the order in which they can be removed; kinds without any are left out."""
    asked = [(kind, _start(*look, "--filter", f"label={label}")) for kind, look in _LISTS.items() for label in labels]
    kept = [] if takes_kept else [_start(*look, "--filter", f"label={_KEPT_LABEL}") for look in _LISTS.values()]
    spared = {one for process in kept for one in _answer(process)}
    found: dict[str, list[str]] = {}
    for kind, process in asked:
        more = [one for one in _answer(process) if one not in spared and one not in found.get(kind, [])]
        if more:
            found.setdefault(kind, []).extend(more)
    return found


def _call(*arguments: str) -> None:
    """What fails is looked for again: somebody else may be removing it at this moment."""
    process = _start(*arguments)
    with suppress(EngineError):
        _answer(process)


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(["docker", *arguments], stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT)
    except OSError as error:
        raise EngineError(f"docker: {error.strerror}") from error


def _answer(process: subprocess.Popen[bytes]) -> list[str]:
    try:
        output = process.communicate(timeout=CALL_S)[0].decode(errors="replace").split("\n")
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.wait()
        raise EngineError(f"the engine did not answer within {CALL_S:g} s") from error
    lines = [line.strip() for line in output if line.strip()]
    if process.returncode:
        raise EngineError(lines[-1] if lines else f"docker ended with {process.returncode}")
    return lines


def _removed(path: Path) -> list[str]:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)  # what cannot be removed is looked for afterwards
    else:
        with suppress(OSError):  # as above
            path.unlink()
    return [f"labctl: warning: {path} could not be removed; next: labctl clean"] if os.path.lexists(path) else []


def _written(path: Path, text: str) -> list[str]:
    """The file is whole afterwards, or as it was."""
    part = path.with_name(f"{_PART}{os.getpid()}-end")
    try:
        with part.open("x", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):  # the disk that failed may fail this as well
            part.unlink(missing_ok=True)
        return [f"labctl: warning: {path} could not be written: {error.strerror}"]
    return []


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1]), "rb") as given:
        ORDER = json.load(given)
    main(ORDER)
