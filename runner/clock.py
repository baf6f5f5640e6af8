"""The runner's only reader of the machine's clocks."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> datetime:
    """The wall clock, in UTC."""
    return datetime.now(UTC)


def now_at() -> str:
    """The wall clock as RFC 3339 in UTC with milliseconds."""
    return now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def elapsed_s() -> float:
    """Seconds on a clock that only goes forward; only differences mean something."""
    return time.monotonic()


def wall_ns() -> int:
    """The wall clock in Unix nanoseconds, as spans have it."""
    return time.time_ns()


def pause(seconds: float) -> None:
    """Let this thread rest."""
    time.sleep(seconds)
