"""Texts from outside as a screen may show them: on one line, without control characters, ASCII where asked."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

from contracts.record import Json


@dataclass(frozen=True)
class Screen:
    """Where a text will be shown."""

    width: int
    """Columns."""
    is_terminal: bool
    has_colour: bool
    is_ascii: bool = False
    """Its encoding has no other characters: a case id of any language is what it is wherever it can be."""


PLAIN_SCREEN = Screen(width=100, is_terminal=False, has_colour=False)
"""A pipe or a file."""


def screen_text(text: str, *, ascii_only: bool) -> str:
    """The text with escapes for everything that could move a cursor, hide text or break a terminal's encoding."""
    escaped = "".join(char if _is_plain(char) else _escape(char) for char in text)
    return escaped.encode("ascii", "backslashreplace").decode() if ascii_only else escaped


def screen_json(value: Json, *, ascii_only: bool) -> str:
    """Compact JSON of the value, safe for a screen; a string keeps its quotes."""
    return screen_text(json.dumps(value, ensure_ascii=ascii_only), ascii_only=ascii_only)


def _is_plain(char: str) -> bool:
    return char.isprintable() and unicodedata.category(char) != "Cf"


def _escape(char: str) -> str:
    """Python's own escape of one character: backslash, then n, x1b, u202e and so on."""
    return char.encode("unicode_escape").decode()
