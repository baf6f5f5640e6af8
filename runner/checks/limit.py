"""limit: the case's own limits, which are expectations."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType
from contracts.suite.case import Case
from runner.checks.interface import Observed, verdict

_COUNTED = frozenset({"tool_calls", "model_calls"})


def check_limits(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict for each limit that the case has of its own."""
    limits = case.limits
    rows: tuple[tuple[str, float | None, float | None], ...] = (
        ("seconds", limits.seconds, round(observed.seconds, 3)),
        ("tool_calls", limits.tool_calls, len(observed.counted)),
        ("model_calls", limits.model_calls, observed.usage.model_calls),
        ("cost", limits.cost_usd, observed.usage.cost_usd),
    )
    for name, limit, actual in rows:
        if limit is not None:
            yield _verdict(name, limit=limit, actual=actual, passed_limit=observed.passed_limit)


def _verdict(name: str, *, limit: float, actual: float | None, passed_limit: str | None) -> Check:
    if passed_limit == name and name in _COUNTED:
        # the call that was one too many was refused, so nothing made counts it
        actual = max(actual or 0, int(limit) + 1)
        holds, reason = False, f"call {int(limit) + 1} was refused: it went past this limit and was ended"
    elif passed_limit == name:
        holds, reason = False, "it went past this limit and was ended"
    elif actual is None:
        holds, reason = None, "nothing measured it"
    elif name == "seconds":  # whoever ended the agent measured it; our own stopwatch includes the way there and back
        holds, reason = True, "it was done in time"
    else:
        holds = actual <= limit
        reason = "it kept within" if holds else "it went past this limit"
    most = f"<= {int(limit) if limit == int(limit) else limit}"
    return verdict(f"limit {name}", kind=CheckType.LIMIT, holds=holds, expected=most, actual=actual, reason=reason)
