"""Texts of many cases that are needed later, in order and once more: kept packed, since they are much alike."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_LEVEL = 1
"""The quickest: rows of one run are so much alike that it makes a twentieth of them."""
_HELD_BYTES = 1 << 16


class Packed:
    """Bytes that only grow, and are read from their beginning."""

    def __init__(self) -> None:
        self._packing = zlib.compressobj(_LEVEL)
        self._held = bytearray()
        self._blocks: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Put the piece behind the others."""
        self._held += piece
        if len(self._held) >= _HELD_BYTES:
            self._blocks.append(self._packing.compress(self._held))
            self._held.clear()

    def pieces(self) -> Iterator[bytes]:
        """All bytes so far, in pieces of any size."""
        unpacking = zlib.decompressobj()
        packed_end = self._packing.copy().flush()
        for block in (*self._blocks, packed_end):
            yield unpacking.decompress(block)
        yield unpacking.flush() + bytes(self._held)
