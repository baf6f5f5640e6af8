"""Texts of bounded size: what is kept of an output that has no end."""

from __future__ import annotations

from collections import deque

TEXT_BYTES = 64 * 1024
"""Of a log or a tool's result in the record."""


class BoundedText:
    """Collects pieces of text in bounded memory: the first and the last part are kept."""

    def __init__(self, *, limit: int = TEXT_BYTES) -> None:
        self._half = limit // 2
        self._head: list[bytes] = []
        self._head_bytes = 0
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._left_out = 0

    def add(self, text: str) -> None:
        """Append a piece of any size."""
        content = text.encode()
        room = self._half - self._head_bytes
        if room > 0:
            self._head.append(content[:room])
            self._head_bytes += len(self._head[-1])
            content = content[room:]
        if content:
            self._tail.append(content)
            self._tail_bytes += len(content)
            self._trim()

    def _trim(self) -> None:
        while (surplus := self._tail_bytes - self._half) > 0:
            oldest = self._tail.popleft()
            if len(oldest) > surplus:
                self._tail.appendleft(oldest[surplus:])
            dropped = min(surplus, len(oldest))
            self._tail_bytes -= dropped
            self._left_out += dropped

    def text(self) -> str | None:
        """What was kept, with a note where something is left out; None when nothing was added."""
        if not self._head:
            return None
        note = f"\n[... {self._left_out} bytes left out ...]\n".encode() if self._left_out else b""
        if note:
            # the cut may go through a character
            head = b"".join(self._head).decode(errors="ignore").encode()
            tail = b"".join(self._tail).decode(errors="ignore").encode()
            return (head + note + tail).decode()
        return b"".join((*self._head, *self._tail)).decode()


def cut_text(text: str, *, limit: int = TEXT_BYTES) -> str:
    """The text, or its first and last part with a note between; `limit` counts UTF-8 bytes without the note."""
    if len(text) * 4 <= limit:
        return text
    bounded = BoundedText(limit=limit)
    bounded.add(text)
    return bounded.text() or ""
