"""Puts lines together from output that comes in pieces of any size, and reads those that are events."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from contracts.json_text import parse_unambiguous
from contracts.record import Json

_SAYS_TYPE = re.compile(r'"type"\s*:\s*"([A-Za-z_]{1,60})"')
_BEFORE_AN_OBJECT = " \t\r\ufeff"
_LONGEST_TROUBLE = 80


class BrokenEventError(ValueError):
    """A line that says it is an event, and that readers would not agree on."""


class LineBuffer:
    """Hands on every whole line with its number, from 1."""

    def __init__(self, take: Callable[[str, int], None]) -> None:
        self._take = take
        self._pieces: list[str] = []
        self._number = 0

    def feed(self, text: str) -> None:
        """Take the next piece."""
        *lines, rest = text.split("\n")
        for line in lines:
            self._hand_on("".join((*self._pieces, line)))
        if rest:
            self._pieces.append(rest)

    def finish(self) -> None:
        """There is no more: an unfinished line is the last one."""
        if self._pieces:
            self._hand_on("".join(self._pieces))

    @property
    def unfinished(self) -> str:
        """The last line, as long as it has no end."""
        return "".join(self._pieces)

    def _hand_on(self, line: str) -> None:
        self._pieces.clear()
        self._number += 1
        self._take(line, self._number)


class BoundedLines:
    """Hands on the beginning of every line and how many characters it left out; keeps no more than `longest`."""

    def __init__(self, take: Callable[[str, int], None], *, longest: int) -> None:
        self._take = take
        self._longest = longest
        self._pieces: list[str] = []
        self._left_out = 0
        self.kept = 0
        """How many characters of the unfinished line are in memory."""

    def feed(self, text: str) -> None:
        """Take the next piece."""
        *ends, rest = text.split("\n")
        for end in ends:
            self._keep(end)
            self._hand_on()
        self._keep(rest)

    def finish(self) -> None:
        """There is no more: an unfinished line is the last one."""
        if self._pieces:
            self._hand_on()

    def _keep(self, part: str) -> None:
        piece = part[: self._longest - self.kept]
        if piece:
            self._pieces.append(piece)
        self.kept += len(piece)
        self._left_out += len(part) - len(piece)

    def _hand_on(self) -> None:
        line, left_out = "".join(self._pieces), self._left_out
        self._pieces.clear()
        self.kept = self._left_out = 0
        self._take(line, left_out)


class WholeLines:
    """Hands on whole lines, as many at once as came, so that no other stream's text gets between their characters.

    An unfinished line waits for its end, and when it grows past `longest` characters it is ended here.
    """

    def __init__(self, take: Callable[[str], None], *, longest: int) -> None:
        self._take = take
        self._longest = longest
        self._pieces: list[str] = []
        self._waiting = 0

    def feed(self, text: str) -> None:
        """Take the next piece."""
        ends, newline, rest = text.rpartition("\n")
        if newline:
            self._hand_on(ends + newline)
        if rest:
            self._pieces.append(rest)
            self._waiting += len(rest)
        if self._waiting > self._longest:
            self.finish()

    def finish(self) -> None:
        """There is no more: an unfinished line is the last one, and is ended; a second time does nothing."""
        if self._pieces:  # ended, so that the part of a secret stands where a line ends, and is found
            self._hand_on("\n")

    def _hand_on(self, end: str) -> None:
        lines = "".join((*self._pieces, end))
        self._pieces.clear()
        self._waiting = 0
        self._take(lines)


def event_of(line: str, *, known: Collection[Json]) -> dict[str, Json] | None:
    """The JSON object of a line that has a `type` of text; None for every other line, which is log.

    Raises:
        BrokenEventError: the line begins as an object and has a known type in it, and is no JSON: with NaN, a number
            out of range, a key twice, or cut. Taken for log, it would hide a call or an error.

    """
    if not line.lstrip(_BEFORE_AN_OBJECT).startswith("{"):
        return None
    try:
        value = parse_unambiguous(line)
    except ValueError as trouble:
        said = next((found[1] for found in _SAYS_TYPE.finditer(line) if found[1] in known), None)
        if said is None:
            return None
        raise BrokenEventError(f"{said}, no JSON that can be read: {_short(trouble)}") from trouble
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _short(trouble: ValueError) -> str:
    """Without what the line says."""
    return str(trouble).partition(":")[0][:_LONGEST_TROUBLE]
