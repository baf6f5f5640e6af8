"""All checks of a case, each with a name of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contracts.attempt import Check
from contracts.suite.case import Case
from runner import clock
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
from runner.trace import NO_TRACE, AttemptTrace, TimedCheck

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


def judge(case: Case, observed: Observed, *, trace: AttemptTrace = NO_TRACE) -> tuple[Check, ...]:
    """Every verdict, in the order of CONTRACT §3; equal names are numbered, so that runs can be compared by name.

    No two have the same name, whatever the suite calls them.
    """
    timed = tuple(_timed(case, observed))
    named = tuple(_named_apart([one.check for one in timed]))
    trace.checked(one._replace(check=check) for one, check in zip(timed, named, strict=True))
    return named


def _timed(case: Case, observed: Observed) -> Iterator[TimedCheck]:
    began_at_ns = clock.wall_ns()
    for function in CHECKS:
        for check in function(case, observed):
            ended_at_ns = clock.wall_ns()
            yield TimedCheck(check, began_at_ns, ended_at_ns)
            began_at_ns = ended_at_ns


def _named_apart(written: Sequence[Check]) -> Iterator[Check]:
    taken, numbers = {check.name for check in written}, dict[str, int]()
    for check in written:
        number = numbers.get(check.name, 0) + 1
        # a number may stand in the name that somebody wrote
        while number > 1 and f"{check.name} ({number})" in taken:
            number += 1
        numbers[check.name] = number
        if number == 1:
            yield check
            continue
        name = f"{check.name} ({number})"
        taken.add(name)
        yield check.model_copy(update={"name": name})
