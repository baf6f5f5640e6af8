"""The wall clock and the randomness of the driver: their only importers, so that nothing else varies."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime


def now() -> datetime:
    """The wall clock, UTC."""
    return datetime.now(UTC)


def monotonic_s() -> float:
    """Seconds on a clock that never goes back; only differences mean something."""
    return time.monotonic()


def wall_ns() -> int:
    """The wall clock in Unix nanoseconds, as spans have it."""
    return time.time_ns()


def instant(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def random_bytes(count: int) -> bytes:
    """Bytes that nobody can guess."""
    return secrets.token_bytes(count)
