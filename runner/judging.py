"""All checks of a case, each with a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contracts.attempt import Check
from contracts.suite.case import Case
from runner.checks.assertion import check_assertions
from runner.checks.denied_tool import check_denied_tools
from runner.checks.interface import CheckFunction, Observed
from runner.checks.limit import check_limits
from runner.checks.never_tool import check_never_tools
from runner.checks.relevance import check_relevance
from runner.checks.size import check_size
from runner.checks.state import check_state
from runner.checks.tool_calls import check_tool_calls
from runner.checks.tool_order import check_tool_order
from runner.checks.unmatched_requests import check_unmatched_requests

CHECKS: tuple[CheckFunction, ...] = (
    check_tool_calls,
    check_never_tools,
    check_denied_tools,
    check_tool_order,
    check_state,
    check_assertions,
    check_size,
    check_relevance,
    check_limits,
    check_unmatched_requests,
)


def judge(case: Case, observed: Observed) -> tuple[Check, ...]:
    """Every verdict, in the order of CONTRACT §3; equal names are numbered, so that runs can be compared by name."""
    return tuple(_named_apart(check for function in CHECKS for check in function(case, observed)))


def _named_apart(checks: Iterator[Check]) -> Iterator[Check]:
    seen: Counter[str] = Counter()
    for check in checks:
        seen[check.name] += 1
        number = seen[check.name]
        yield check if number == 1 else check.model_copy(update={"name": f"{check.name} ({number})"})
