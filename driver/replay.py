"""Runs one case of a sealed run again, from that run's own files under its own conditions, and says what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from contracts.comparison import CaseChange, Difference
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.outcome import Outcome
from contracts.plan import Backend, ImageIdentity, Plan
from contracts.suite.problems import unknown_name
from driver.pipeline import RunOutcome, run_suite
from driver.ports import Progress, Stack
from driver.rerun import Anew, request_again, unset_variables
from driver.run_names import run_directory_of, shown_as
from driver.verify import verify_directory
from driver.version import VERSION
from driver.working_tree import changes_since

StackOf = Callable[[Backend, Mapping[str, ImageIdentity]], Stack]
"""The stack of a backend, which runs the given images wherever they still are."""

_NOT_OF_THE_RUN = frozenset({"source"})
"""Subjects that say where a suite lay and not what it was: evidence lies elsewhere."""


class Reproduction(Enum):
    """What a replay says; each with its exit status."""

    def __init__(self, word: str, exit_code: Exit) -> None:
        self.word = word
        self.exit_code = exit_code

    REPRODUCED = ("reproduced", Exit.YES)
    DIVERGED = ("diverged", Exit.NO)
    CANNOT_TELL = ("cannot tell", Exit.CANNOT_TELL)


@dataclass(frozen=True)
class Replayed:
    """A replay that was sealed as a run of its own."""

    reproduction: Reproduction
    outcome: Outcome
    """Of the case, this time."""
    change: CaseChange | None
    """What is not as it was; None where nothing is."""
    not_restored: tuple[Difference, ...]
    """Conditions that differ from the recorded ones."""
    unset: tuple[str, ...]
    """Variables that the run had by `-e` and that have no value here."""
    changed_since: tuple[str, ...]
    """What the suite in the working tree has become, of which nothing was used."""
    path: Path


def replay(  # noqa: PLR0913 - the parts of a run
    run: Path,
    case_id: str,
    *,
    anew: Anew,
    stack_of: StackOf,
    progress: Callable[[Plan], Progress],
    warn: Callable[[str], None],
) -> Replayed:
    """Run the case again.

    Raises:
        LabError: NO_RUN, UNSEALED, ALTERED, RESULTS_DIVERGE for the run; UNKNOWN_CASE; what
            `driver.pipeline.run_suite` raises.

    """
    with ExitStack() as kept:
        root = kept.enter_context(run_directory_of(run, evidence=anew.evidence))
        verified = verify_directory(root, shown=shown_as(run, root))
        planned = {case.case_id: case for case in verified.rows.cases}
        if case_id not in planned:
            raise LabError(
                ErrorCode.UNKNOWN_CASE,
                unknown_name("case", case_id, planned),
                next_step=f"labctl show {shlex.quote(str(run))}",
            )
        plan = verified.plan
        unset = unset_variables(plan, anew)
        request = replace(
            request_again(root, plan, cases=[case_id], repeat=planned[case_id].repeats, anew=anew), baseline=root
        )
        images = plan.images if plan.labctl == VERSION else {}
        outcome = run_suite(
            request,
            stack=stack_of(plan.conditions.backend, images),
            host_env=anew.host_env,
            progress=progress,
            warn=warn,
        )
        return _judged(outcome, case_id, unset=unset, changed_since=changes_since(root, plan))


def _judged(outcome: RunOutcome, case_id: str, *, unset: tuple[str, ...], changed_since: tuple[str, ...]) -> Replayed:
    comparison = outcome.comparison
    assert comparison is not None  # noqa: S101 - the request has a baseline
    change = next((one for one in comparison.cases if one.case_id == case_id), None)
    (case,) = outcome.grading.listed
    not_restored = (*comparison.drift, *(one for one in comparison.subject if _is_of_the_run(one)))
    is_restored = not (not_restored or unset)
    return Replayed(
        reproduction=_reproduction(change, now=case.outcome, is_restored=is_restored),
        outcome=case.outcome,
        change=change,
        not_restored=not_restored,
        unset=unset,
        changed_since=changed_since,
        path=outcome.path,
    )


def _is_of_the_run(subject: Difference) -> bool:
    """It is not where the suite lay, nor an image that only other cases of the run have."""
    is_of_other_cases = subject.key == "baseImage" and not subject.candidate
    return subject.key not in _NOT_OF_THE_RUN and not is_of_other_cases


def _reproduction(change: CaseChange | None, *, now: Outcome, is_restored: bool) -> Reproduction:
    if change is None and now is not Outcome.UNKNOWN:
        return Reproduction.REPRODUCED  # whatever could not be restored did not matter
    if change is None or change.kind == "unknown" or not is_restored:
        return Reproduction.CANNOT_TELL  # what could not be restored may be the cause
    return Reproduction.DIVERGED
