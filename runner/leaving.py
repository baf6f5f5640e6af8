"""Leaving at once: when the driver is gone, or a signal says so, everything that was started is ended first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from contracts.exits import Exit

READ_BYTES = 1 << 16


class Watch:
    """Ends everything at once when the driver is gone (end of stdin) or the runner is told to go."""

    def __init__(self, *, end: Callable[[], None]) -> None:
        self._end = end
        self._lock = threading.Lock()
        self._is_over = False

    def start(self, *, stdin: int | None, hear: Callable[[bytes], None] = lambda _: None) -> None:
        """Watch from now on; without a `stdin` only signals. `hear` gets each line that the driver says."""
        if stdin is not None:
            threading.Thread(target=self._await_eof, args=(stdin, hear), name="driver watch", daemon=True).start()
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)

    def stop(self) -> None:
        """All is done: an end of stdin means nothing now."""
        with self._lock:
            self._is_over = True

    def _await_eof(self, stdin: int, hear: Callable[[bytes], None]) -> None:
        rest = b""
        while piece := os.read(stdin, READ_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                hear(line)
        self._leave(Exit.TERMINATED)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        status = Exit.INTERRUPTED if number == signal.SIGINT else Exit.TERMINATED
        # a thread of its own: the main one may hold a lock that the end needs
        threading.Thread(target=self._leave, args=(status,), daemon=True).start()

    def _leave(self, status: Exit) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        self._end()
        os._exit(status)
