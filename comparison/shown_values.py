"""Values of the evidence as a comparison may show them: at the lower capture level of both runs, and not too long."""

from __future__ import annotations

import json

from contracts.record import Json
from ledger.behaviour import comparable

MOST_CHARS = 2000
"""Of a value's JSON text."""
_BEFORE = 60
"""Characters that two texts have in common before the first in which they differ, where their beginning is left out."""


def shown(value: Json, *, is_whole: bool) -> Json:
    """The value; unless both runs keep bodies, long texts as their size and digest, whatever one run has of them."""
    return shown_pair(value, value, is_whole=is_whole)[0]


def shown_pair(was: Json, now: Json, *, is_whole: bool) -> tuple[Json, Json]:
    """Both values of something that differs: what of long ones is shown differs as well."""
    pair = (was, now) if is_whole else (comparable(was), comparable(now))
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in pair]
    cuts = cut_alike(texts[0], texts[1], most=MOST_CHARS)
    first, second = (value if cut == text else cut for value, cut, text in zip(pair, cuts, texts, strict=True))
    return first, second


def cut_alike(was: str, now: str, *, most: int) -> tuple[str, str]:
    """Both texts, or so many of their characters that the first one that differs is among them."""
    differing = (place for place, (one, other) in enumerate(zip(was, now, strict=False)) if one != other)
    common = 0 if was == now else next(differing, min(len(was), len(now)))
    start = 0 if common < most else common - _BEFORE
    return _cut(was, start, most), _cut(now, start, most)


def _cut(text: str, start: int, most: int) -> str:
    if len(text) <= most:
        return text
    if not start:
        return f"{text[:most]}... ({len(text)} characters)"
    return f"...{text[start : start + most]}... ({len(text)} characters, from number {start + 1})"
