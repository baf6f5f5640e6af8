"""The whole comparison on one screen: what changed around the runs, which cases, which rates, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from comparison.changes import Looking
from comparison.differences import differences
from comparison.labels import labels_of
from comparison.pairing import Pairing, pair_cases
from comparison.rates import metric_deltas, totals_without
from comparison.sides import Allowance, Side
from comparison.statistic_text import statistics_of
from comparison.verdict import decide, reasons_of
from contracts.comparison import CaseChange, Comparison, RepeatMeans, RepeatSides, Sides, Statistics, ToolResponse
from contracts.outcome import Outcome
from ledger.repeats import Means
from ledger.run_rows import CODES

MOST_CASES = 10_000
"""Of the cases that are told in full."""
MOST_RESPONSES = 1_000
"""Of the unequal answers that are told."""
_UNKNOWN = CODES[Outcome.UNKNOWN]
_GRAVEST_FIRST = ("regressed", "unknown", "removed", "improved", "changed", "added")


def compare(baseline: Side, candidate: Side, *, allowance: Allowance) -> Comparison:
    """Compare two runs that have at least one case in common; equal inputs give equal records.

    Both sides' rows must have been read by this process, or by a fork of it.
    """
    found = differences(baseline, candidate, allowed=allowance.drift)
    pairing = pair_cases(baseline, candidate)
    is_comparable = not found.forbidden
    changes, unequal = _changes(Looking(baseline, candidate, is_comparable), pairing, allowance)
    before = totals_without(baseline, pairing.baseline_uncounted)
    after = totals_without(candidate, pairing.candidate_uncounted)
    without = pairing.baseline_uncounted.union(pairing.removed)
    kept = totals_without(baseline, without) if pairing.removed else before
    tolerance = allowance.tolerance if is_comparable else None
    metrics = metric_deltas(before.metrics(), after.metrics(), kept=kept.metrics(), tolerance=tolerance)
    labels = labels_of(baseline, candidate, found)
    is_same_run = not changes and _is_same_run(baseline, candidate)
    return Comparison(
        baseline=labels[0],
        candidate=labels[1],
        baseline_run=baseline.plan.run_id,
        candidate_run=candidate.plan.run_id,
        dataset=candidate.manifest.conditions.dataset_revision,
        verdict=decide(found, changes, metrics),
        reasons=reasons_of(found, changes, metrics, allowance=allowance, is_same_run=is_same_run),
        comparable=is_comparable,
        cases_regressed=_ids(changes, "regressed"),
        cases_improved=_ids(changes, "improved"),
        unknown=_unknown(changes),
        changed=_ids(changes, "changed"),
        cases_added=len(pairing.added),
        added=_ids(changes, "added"),
        removed=_ids(changes, "removed"),
        not_selected=pairing.not_selected,
        subject=found.subject,
        drift=found.drift,
        context=found.context,
        tool_responses=tuple(unequal[:MOST_RESPONSES]),
        metrics=metrics,
        summary=Sides(baseline=before.summary(), candidate=after.summary()),
        repeats=_repeats(baseline.rows.means, candidate.rows.means),
        statistics=_statistics(baseline, candidate, pairing) if is_comparable else None,
        tolerance=float(allowance.tolerance),
        allowed_drift=tuple(sorted(allowance.drift)),
        allow_removed=allowance.removed,
        cases=tuple(changes[:MOST_CASES]),
        left_out=_left_out(cases=len(changes) - MOST_CASES, toolResponses=len(unequal) - MOST_RESPONSES),
    )


def _is_same_run(baseline: Side, candidate: Side) -> bool:
    """Two runs may have been given one name, on two machines or in two folders."""
    return (baseline.plan, baseline.manifest) == (candidate.plan, candidate.manifest)


def _changes(looking: Looking, pairing: Pairing, allowance: Allowance) -> tuple[list[CaseChange], list[ToolResponse]]:
    """Every case that is not what it was, gravest first, protected first in each kind; and the unequal answers."""
    changes: list[CaseChange] = []
    unequal: list[ToolResponse] = []
    for pair in pairing.paired:
        change, answers = looking.case(pair)
        unequal += answers
        if change is not None:
            changes.append(change)
    changes += looking.alone(pairing, allow_removed=allowance.removed)
    changes.sort(key=lambda change: (_GRAVEST_FIRST.index(change.kind), not change.gates, not change.protected))
    return changes, unequal


def _ids(changes: Sequence[CaseChange], kind: str) -> tuple[str, ...]:
    return tuple(change.case_id for change in changes if change.kind == kind)


def _unknown(changes: Sequence[CaseChange]) -> tuple[str, ...]:
    """Those of the kind, and what is unknown on the only side that has it."""
    return tuple(
        change.case_id
        for change in changes
        if change.kind == "unknown"
        or (change.kind in {"added", "removed"} and Outcome.UNKNOWN in (change.was, change.now))
    )


def _repeats(was: Means | None, now: Means | None) -> RepeatSides | None:
    if was is None and now is None:
        return None
    before, after = (None if means is None else RepeatMeans(**vars(means)) for means in (was, now))
    return RepeatSides(baseline=before, candidate=after)


def _statistics(baseline: Side, candidate: Side, pairing: Pairing) -> Statistics | None:
    """Over the pairs that both sides could tell and that mean the same."""
    before, after = baseline.rows, candidate.rows
    told = [
        (then, now)
        for then, now in pairing.paired
        if before.outcomes[then] != _UNKNOWN != after.outcomes[now] and then not in pairing.baseline_uncounted
    ]
    if not told:
        return None
    flips = [before.outcome(then) is Outcome.PASS for then, now in told if before.outcomes[then] != after.outcomes[now]]
    is_repeated = before.means is not None or after.means is not None
    shares = [_share(candidate, now) - _share(baseline, then) for then, now in told] if is_repeated else None
    return statistics_of(flips.count(True), flips.count(False), paired=len(told), shares=shares)


def _share(side: Side, place: int) -> float:
    """Of a case's repeats that passed; of a case with an unknown repeat, which failed all the same, by its outcome."""
    by_outcome = float(side.rows.outcome(place) is Outcome.PASS)
    return side.rows.passed_share.get(place, by_outcome)


def _left_out(**more: int) -> dict[str, int]:
    return {name: count for name, count in more.items() if count > 0}
