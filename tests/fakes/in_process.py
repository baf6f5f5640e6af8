"""labctl in this process: a tenth of a command's time, for those who call it ten thousand times."""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, NamedTuple

from driver.cli.main import main

HANG_S = 60
_STUCK_S = 180
"""Then the process ends with the stacks of all threads: somebody holds it where no signal is heard."""
_MORE_BYTES = 3 << 30


class Said(NamedTuple):
    """What the command said."""

    status: int | None
    out: bytes
    err: bytes


class HangError(BaseException):
    """The command did not come back; no `except Exception` takes it."""


def called(argv: Sequence[str], *, cwd: Path) -> Said:
    """The command line, with memory and time bounded; raises HangError."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _as_process(argv, cwd, out, err), _bounded():
            status = _status()
        out.seek(0)
        err.seek(0)
        return Said(status, out.read(), err.read())


def _status() -> int | None:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else None
    return None


@contextmanager
def _as_process(argv: Sequence[str], cwd: Path, out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    were = sys.argv, sys.stdout, sys.stderr, Path.cwd(), dict(os.environ), gc.isenabled()
    sys.argv = ["labctl", *argv]
    sys.stdout = os.fdopen(os.dup(out.fileno()), "w", encoding="utf-8")
    sys.stderr = os.fdopen(os.dup(err.fileno()), "w", encoding="utf-8", errors="backslashreplace")
    os.chdir(cwd)
    os.environ["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.close()
        sys.argv, sys.stdout, sys.stderr = were[:3]
        os.chdir(were[3])
        os.environ.clear()
        os.environ.update(were[4])
        if were[5]:
            gc.enable()


@contextmanager
def _bounded() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError

    were = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (now + _MORE_BYTES, were[1]))
    signal.alarm(HANG_S)
    faulthandler.dump_traceback_later(_STUCK_S, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, were)
        signal.signal(signal.SIGALRM, before)
