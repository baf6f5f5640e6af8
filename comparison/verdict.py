"""The verdict of a comparison and its reasons, gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comparison.changes import REDEFINED
from comparison.differences import Differences, named
from comparison.metric_rows import plain
from comparison.sides import Allowance
from contracts.comparison import CaseChange, MetricDelta, Verdict

_MOST_NAMED = 5


def decide(found: Differences, changes: Sequence[CaseChange], metrics: Sequence[MetricDelta]) -> Verdict:
    """Drift that was not allowed outranks a regression, which outranks what cannot be told."""
    if found.forbidden:
        return Verdict.CANNOT_TELL
    if any(change.kind == "regressed" for change in changes) or any(metric.regressed for metric in metrics):
        return Verdict.REGRESSION
    return Verdict.CANNOT_TELL if any(change.gates for change in changes) else Verdict.NO_REGRESSION


def reasons_of(
    found: Differences,
    changes: Sequence[CaseChange],
    metrics: Sequence[MetricDelta],
    *,
    allowance: Allowance,
    is_same_run: bool,
) -> tuple[str, ...]:
    """Sentences: what gates first, each kind once, then what is worth knowing."""
    return (
        *_of_drift(found),
        *_of_cases(changes, metrics, allowance=allowance),
        *_remarks(found, changes, is_same_run=is_same_run),
    )


def _of_drift(found: Differences) -> Iterator[str]:
    if found.forbidden:
        flags = " ".join(f"--allow-drift {difference.key}" for difference in found.forbidden)
        yield f"not comparable: the world differs in {named(found.forbidden)}; to compare all the same: {flags}"


def _of_cases(changes: Sequence[CaseChange], metrics: Sequence[MetricDelta], *, allowance: Allowance) -> Iterator[str]:
    if regressed := [change for change in changes if change.kind == "regressed"]:
        yield f"{_count(regressed)} passed and {_verb(regressed, 'fails', 'fail')} now: {_names(regressed)}"
    for metric in metrics:
        if metric.regressed:
            was, now = plain(metric.baseline), plain(metric.candidate)
            yield f"{metric.name} went from {was} to {now}, by more than {allowance.tolerance}"
    still_open = [change for change in changes if change.gates and change.kind != "regressed"]
    for question, said in _OPEN.items():
        if concerned := [change for change in still_open if _open_question(change) == question]:
            yield f"{_count(concerned)} {_verb(concerned, 'is', 'are')} {said}: {_names(concerned)}"


def _remarks(found: Differences, changes: Sequence[CaseChange], *, is_same_run: bool) -> Iterator[str]:
    if allowed := [difference for difference in found.drift if difference.allowed]:
        yield f"drift that was allowed: {named(allowed)}"
    reused = [difference for difference in (*found.subject, *found.drift) if difference.label_reused]
    if reused:
        yield f"the same label stands for other content: {named(reused)}"
    if is_same_run:
        yield "baseline and candidate are the same run: nothing can differ"
    if not any(change.gates for change in changes) and not found.forbidden:
        yield "no case that passed fails now"


def _open_question(change: CaseChange) -> str:
    """Why a case leaves the verdict open, as the key of `_OPEN`."""
    if change.kind == "removed":
        return "protected" if change.protected else "removed"
    if change.reason.startswith(REDEFINED):
        return "redefined"
    return f"{change.was or 'added'} {change.now}"


_OPEN = {
    "protected": "protected and removed, which nothing allows",
    "removed": "removed; to allow it: --allow-removed",
    "redefined": "defined otherwise than before",
    "pass unknown": "unknown now, after a pass",
    "unknown fail": "failing now, after nobody could tell",
    "added unknown": "added and unknown",
    "unknown unknown": "unknown in both runs",
}
"""In the order of weight."""


def _names(changes: Sequence[CaseChange]) -> str:
    more = len(changes) - _MOST_NAMED
    return ", ".join(change.case_id for change in changes[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(changes: Sequence[CaseChange]) -> str:
    return "1 case" if len(changes) == 1 else f"{len(changes)} cases"


def _verb(changes: Sequence[CaseChange], one: str, many: str) -> str:
    return one if len(changes) == 1 else many
