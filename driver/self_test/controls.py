"""The self-test on one screen: two runs, then what every control says of them, one by one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from contracts.errors import LabError
from contracts.exits import Exit
from contracts.plan import Plan
from driver.ports import Progress
from driver.scratch import refuse_temporary_in
from driver.self_test.comparisons import look_at_comparisons
from driver.self_test.looked import Looked
from driver.self_test.outcomes import look_at_outcomes, look_for_secret
from driver.self_test.runs import SUITE, Runs, StackOf, made_runs
from driver.self_test.seals import look_at_seals

_HERE = (Exit.ENVIRONMENT, Exit.EVIDENCE)
"""Errors that lie in the machine: no engine, no image, a temporary folder that is full."""


def self_test(
    stack_of: StackOf, *, progress: Callable[[Plan], Progress], warn: Callable[[str], None]
) -> Generator[Looked]:
    """Every control as soon as it was looked at; nothing is left afterwards.

    A run that cannot be made is a finding and ends the test: the lab refuses a suite that is known to be good.

    Raises:
        Interrupted: after a signal.

    """
    try:
        refuse_temporary_in(SUITE, what="self-test's suite")
    except LabError as error:  # whatever its exit status is for a run: nothing was asked of the lab yet
        yield Looked("runs", error.message, Exit.ENVIRONMENT, error=error)
        return
    try:
        with made_runs(stack_of, progress=progress, warn=warn) as runs:
            yield Looked("runs", f"2 runs on the backend {runs.backend}, sealed")
            yield from look(runs)
    except LabError as error:
        status = Exit.ENVIRONMENT if error.exit_code in _HERE else Exit.NO
        yield Looked("runs", error.message, status, error=error)


def look(runs: Runs) -> Iterator[Looked]:
    """The controls over runs that were made; what `verify` does not accept is never read any further."""
    seals = list(look_at_seals(runs))
    yield from seals
    if seals[0].exit_code is not Exit.YES:
        yield Looked("outcomes", "there are no sealed runs to look at", Exit.CANNOT_TELL)
        return
    yield from look_at_outcomes(runs)
    yield look_for_secret(runs)
    yield from look_at_comparisons(runs)
