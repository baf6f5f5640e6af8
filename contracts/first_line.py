"""The first line of a process's stdin: how one of the lab gets its work, while the end of stdin is yet to come."""

from __future__ import annotations

import os

_READ_BYTES = 65536


def read_first_line(descriptor: int) -> bytearray:
    """The line with its end; what there was of it, also nothing, where the input ended before.

    Not through `sys.stdin`: its buffer would hide the end that comes later, and a thread waiting in it would keep the
    interpreter from ending. Raises OSError.
    """
    line = bytearray()  # not pieces to be joined: an order of many cases is megabytes
    while piece := os.read(descriptor, _READ_BYTES):
        line += piece
        if piece.endswith(b"\n"):
            break
    return line
