"""Standard error as a place that may take nothing: what cannot be told there changes no run and no exit status."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from typing import IO, Any, cast


def bearing_stderr() -> IO[str]:
    """Stderr as a stream of which no write fails; whatever labctl says there goes through one."""
    return cast("IO[str]", _Bearing(sys.stderr))


class _Bearing:
    """No other place is left to say that a write failed.

    A full disk, a reader that went away, a terminal that is gone: what was to be told is lost, and the command goes on.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written; the length of the text either way."""
        try:
            self._stream.write(text)
        except OSError:  # see the class
            _empty(self._stream)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        try:
            self._stream.flush()
        except OSError:  # see the class
            _empty(self._stream)

    def __getattr__(self, name: str) -> Any:
        """Whatever else is asked of a stream: its encoding, its descriptor, whether it is a terminal."""
        return getattr(self._stream, name)


def _empty(stream: IO[str]) -> None:
    """Drop what its buffer still holds; a later line, or the interpreter's last flush, would fail of it."""
    with suppress(OSError), ExitStack() as undone:  # without a descriptor to spare it stays as it is
        descriptor = stream.fileno()
        kept = os.dup(descriptor)
        undone.callback(os.close, kept)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        undone.callback(os.close, nowhere)
        os.dup2(nowhere, descriptor)
        undone.callback(os.dup2, kept, descriptor)  # there may be room again for the next line
        stream.flush()
