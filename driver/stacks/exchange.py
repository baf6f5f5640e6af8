"""What goes to a process and comes from it, at the same time and within one; only the end of it is held in memory."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time

_PIECE = 64 * 1024
_WRITTEN_AT_ONCE = 4096  # a pipe that is writable takes as much without waiting
_LOOK_S = 0.1


def exchange(
    process: subprocess.Popen[bytes], given: bytes, *, until: float, most: int, give_up: threading.Event
) -> tuple[bytes, bool]:
    """Hand a process its input and read it to the end of its output; `until` is on the monotonic clock.

    Returns the last `most` bytes of its output, and False when time was up or `give_up` was set before the end of it.
    The process has pipes for stdin, which is closed after the input, and stdout.
    """
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise AssertionError("a process without pipes")
    rest, tail = memoryview(given), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        selector.register(stdin, selectors.EVENT_WRITE)
        while not give_up.is_set() and (left_s := until - time.monotonic()) > 0:
            for key, _ in selector.select(min(left_s, _LOOK_S)):
                if key.fileobj is stdin:
                    rest = _given(stdin.fileno(), rest)
                    if not rest:
                        selector.unregister(stdin)
                        stdin.close()
                elif piece := os.read(stdout.fileno(), _PIECE):
                    tail += piece
                    del tail[:-most]
                else:
                    return bytes(tail), True
    return bytes(tail), False


def _given(pipe: int, rest: memoryview) -> memoryview:
    """What is still to be written; nothing to one that does not read."""
    try:
        return rest[os.write(pipe, rest[:_WRITTEN_AT_ONCE]) :]
    except BrokenPipeError:
        return rest[:0]
