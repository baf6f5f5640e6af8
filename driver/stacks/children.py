"""Child processes that never outlive the driver: their stdin stays open as long as it lives."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from driver.ports import LogLine  # the records behind it take a fifth of a second to load

_TAIL_LINES = 40
_DRAIN_S = 2.0
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR")


def child_env(**values: str) -> dict[str, str]:
    """The environment of the lab's own processes: nothing of the user's but what a program needs to start."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONUNBUFFERED": "1", **values}


@dataclass
class Child:
    """A process in a session of its own: stdin and stdout are the caller's, stderr goes to a log line by line."""

    process: subprocess.Popen[bytes]
    service: str
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    """The last lines of its log, for an error's cause."""
    _pump: threading.Thread | None = None
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def start(cls, service: str, argv: Sequence[str], *, cwd: Path, env: dict[str, str]) -> Child:
        """Start it; raises OSError when the program cannot be run."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        return cls(process=process, service=service)

    def follow(self, log: LogLine) -> None:
        """Hand its log to `log`, from its first line on; until then the pipe keeps it."""
        assert self.process.stderr is not None  # noqa: S101 - it was opened as a pipe above
        arguments = (self.process.stderr, self.service, self.tail, log)
        self._pump = threading.Thread(target=_hand_on, args=arguments, name=f"log-{self.service}", daemon=True)
        self._pump.start()

    def end_of_log(self, *, within_s: float) -> bool:
        """Whether everything that it said was handed on by then."""
        if self._pump is None:
            return True
        self._pump.join(timeout=within_s)
        return not self._pump.is_alive()

    @property
    def _stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None  # noqa: S101 - it was opened as a pipe above
        return self.process.stdout

    def send_line(self, line: str) -> None:
        """Write one line to its stdin, which stays open; safe for many threads.

        A child that is gone, or is being left, takes no line: it is noticed by its stdout.
        """
        self.send_pieces((line.encode(),))

    def send_pieces(self, pieces: Iterable[bytes]) -> None:
        """Write one line that comes in pieces, as `send_line` does."""
        assert self.process.stdin is not None  # noqa: S101 - it was opened as a pipe above
        with self._writing, suppress(BrokenPipeError, ValueError):  # ValueError: closed by `ended`
            self.process.stdin.writelines(chain(pieces, (b"\n",)))
            self.process.stdin.flush()

    def first_line(self, *, timeout_s: float) -> str | None:
        """The first line of its stdout, or None when it ended or took too long."""
        ready, _, _ = select.select([self._stdout], [], [], timeout_s)
        line = self._stdout.readline() if ready else b""
        return line.decode() if line.endswith(b"\n") else None

    def exit_status(self, *, within_s: float) -> int | None:
        """Its exit status, or None when it still runs after that time."""
        try:
            return self.process.wait(timeout=within_s)
        except subprocess.TimeoutExpired:
            return None

    def lines(self) -> Iterator[str]:
        """Whole lines of its stdout until it ends; a line that was cut off at the end is not one."""
        for line in self._stdout:
            if line.endswith(b"\n"):
                yield line.decode()


@contextmanager
def ended(child: Child, *, grace_s: float) -> Iterator[Child]:
    """Within: the child runs. After: it is gone, first by closing its stdin and SIGTERM, then by SIGKILL."""
    process = child.process
    try:
        yield child
    finally:
        if process.stdin:
            with suppress(BrokenPipeError):  # what it did not read any more is of no use to it
                process.stdin.close()
        process.terminate()
        try:
            process.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _end_session(process.pid)
        drained = child.end_of_log(within_s=_DRAIN_S)
        if process.stdout:
            process.stdout.close()
        if process.stderr and drained:  # closing it under a reader would wait for that reader
            process.stderr.close()


def _end_session(session: int) -> None:
    """What the child may have left in its session: plug-ins of the docker client run in process groups of their own."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended while it was looked at
            if stat.read_text().rpartition(")")[2].split()[3] == str(session):
                os.kill(int(stat.parent.name), signal.SIGKILL)


def _hand_on(stream: IO[bytes], service: str, tail: deque[str], log: LogLine) -> None:
    for line in stream:
        text = line.decode(errors="replace").rstrip("\n")
        tail.append(text)
        log(service, text)
