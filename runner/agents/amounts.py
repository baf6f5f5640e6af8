"""Amounts as agents and models tell them: tokens, calls, dollars; bounded, because a stranger wrote them."""

from __future__ import annotations

from typing import TypeVar

from contracts.record import Json

MOST = 1 << 53
"""More than anybody consumes, and still exact in every reader of JSON and in a database."""

N = TypeVar("N", int, float)


def amount(value: Json) -> int | float | None:
    """The value where it is a number from 0 to MOST; None for everything else, an infinite one too."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= MOST else None


def whole(value: Json) -> int | None:
    """The value where it is a whole number from 0 to MOST."""
    found = amount(value)
    return found if isinstance(found, int) else None


def added(total: N | None, more: N | None) -> N | None:
    """The sum, at most MOST; None where neither was told."""
    if total is None or more is None:
        return more if total is None else total
    return min(total + more, type(more)(MOST))
