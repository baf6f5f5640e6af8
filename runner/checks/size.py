"""size: how long the judged text is."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType
from contracts.suite.case import Case
from runner.checks.interface import Observed, verdict

_BELOW = (("S", 500), ("M", 1500), ("L", 5000))
"""UTF-8 bytes; XL has no end."""


def size_of(text: str) -> str:
    """S, M, L or XL."""
    count = len(text.encode())
    return next((name for name, below in _BELOW if count < below), "XL")


def check_size(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict when the case expects a size."""
    if case.expect.size is None:
        return
    actual = size_of(observed.text)
    yield verdict(
        "size",
        kind=CheckType.SIZE,
        holds=actual == case.expect.size,
        expected=case.expect.size,
        actual=actual,
        reason=f"the text has {len(observed.text.encode())} bytes",
    )
