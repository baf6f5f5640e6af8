"""never-tool: a tool that may neither be called nor be claimed to have been."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType
from contracts.suite.case import Case
from runner.checks.interface import DENIED, Observed, verdict


def check_never_tools(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict for each tool; calls that were only claimed, or asked for and denied, are calls here too."""
    for name in case.expect.never_tools:
        calls = [(index, call) for index, call in enumerate(observed.calls, start=1) if call.tool == name]
        reason = f"{name} was not called"
        if calls:
            index, first = calls[0]
            how = "made" if first.made else "asked for and denied" if first.status == DENIED else "claimed"
            reason = f"{name} was {how} as call {index}"
        yield verdict(
            f"never {name}",
            kind=CheckType.NEVER_TOOL,
            holds=not calls,
            expected=0,
            actual=len(calls),
            reason=reason,
        )
