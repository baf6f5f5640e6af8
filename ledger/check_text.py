"""A check as a person reads it: what was expected, what there was, and why."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check
from ledger.record_text import check_title
from ledger.screen_text import screen_json, screen_text

MOST_CHARS = 400
"""Of a value on a screen."""


def check_lines(check: Check, *, ascii_only: bool) -> Iterator[str]:
    """The check's verdict, then one indented line for each value that it has."""
    yield "  " + screen_text(f"{check_title(check)}: {check.outcome.value}", ascii_only=ascii_only)
    if check.expected is not None:
        yield "    expected: " + cut_for_screen(screen_json(check.expected, ascii_only=ascii_only))
    if check.actual is not None:
        yield "    actual:   " + cut_for_screen(screen_json(check.actual, ascii_only=ascii_only))
    if check.reason:
        yield "    reason:   " + cut_for_screen(screen_text(check.reason, ascii_only=ascii_only))


def cut_for_screen(text: str) -> str:
    """The text's first MOST_CHARS characters, saying how many there are."""
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}... ({len(text)} characters)"
