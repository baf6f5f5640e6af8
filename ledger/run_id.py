"""Run ids: made from an instant and random bytes, or given by the user and checked."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from contracts.errors import ErrorCode, Found, LabError

RANDOM_BYTES = 3
"""How many random bytes `new_run_id` takes: six hex digits."""

_GIVEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def new_run_id(at: datetime, random_bytes: bytes) -> str:
    """`run-YYYY-MM-DD-HHMMSS-<6 hex>` of an aware instant, in UTC.

    Raises:
        ValueError: the instant has no time zone, or there are not exactly RANDOM_BYTES bytes.

    """
    if at.tzinfo is None:
        raise ValueError("the instant of a run id needs a time zone")
    if len(random_bytes) != RANDOM_BYTES:
        raise ValueError(f"a run id takes {RANDOM_BYTES} random bytes, got {len(random_bytes)}")
    return f"run-{at.astimezone(UTC):%Y-%m-%d-%H%M%S}-{random_bytes.hex()}"


def checked_run_id(given: str) -> str:
    """The id as the user gave it; raises LabError BAD_USAGE for one that cannot name a directory everywhere."""
    if _GIVEN.fullmatch(given) is None:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"--run-id {given!r} cannot be used as a directory name",
            found=[Found(repr(given), place="--run-id")],
            expected="a letter or digit, then at most 99 letters, digits, dots, dashes and underscores",
        )
    return given
