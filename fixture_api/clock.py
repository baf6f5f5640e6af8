"""The fixed clock of the world; nothing here ever reads the machine's own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class FixedClock:
    """An instant that does not move."""

    now: str
    """RFC 3339, as the suite or FIXED_NOW spells it."""
    timezone: str
    """An IANA name, told to agents; it does not change `now`."""
    epoch_s: int
    """Whole seconds since 1970-01-01T00:00:00Z."""


def fixed_clock(now: str, *, timezone: str) -> FixedClock:
    """The clock that stands at `now`; raises ValueError when that is no RFC 3339 instant with an offset."""
    instant = datetime.fromisoformat(now)
    if instant.tzinfo is None or "T" not in now.upper():
        raise ValueError(f"{now!r} is no RFC 3339 instant such as 2026-09-01T12:00:00Z")
    return FixedClock(now=now, timezone=timezone, epoch_s=int(instant.timestamp()))
