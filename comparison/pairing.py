"""Which cases of two runs belong together, and which stand alone and why."""

from __future__ import annotations

from dataclasses import dataclass

from comparison.sides import Side


@dataclass(frozen=True)
class Pairing:
    """Places of cases in the rows of their side, protected ones first, then in the order of the plan."""

    paired: tuple[tuple[int, int], ...]
    """Of baseline and candidate, in the candidate's order."""
    added: tuple[int, ...]
    """Of the candidate."""
    removed: tuple[int, ...]
    """Of the baseline."""
    not_selected: tuple[str, ...]
    """Ids of cases that --case or --only left out of one side: neither added nor removed; sorted."""
    baseline_uncounted: frozenset[int]
    candidate_uncounted: frozenset[int]
    """In no rate: cases that are not selected on the other side, and those whose definition changed."""


def pair_cases(baseline: Side, candidate: Side) -> Pairing:
    """Pair the cases of two runs by their ids."""
    were, are = baseline.rows.index, candidate.rows.index
    paired = tuple((were[name], place) for name, place in are.items() if name in were)
    gone = [(name, place) for name, place in were.items() if name not in are]
    new = [(name, place) for name, place in are.items() if name not in were]
    left_out_now, left_out_then = set(candidate.plan.not_selected), set(baseline.plan.not_selected)
    unselected_then = {name: place for name, place in gone if name in left_out_now}
    unselected_now = {name: place for name, place in new if name in left_out_then}
    before, after = baseline.rows.cases, candidate.rows.cases
    redefined = [(then, now) for then, now in paired if before[then].case_digest != after[now].case_digest]
    return Pairing(
        paired=paired,
        added=tuple(place for name, place in new if name not in left_out_then),
        removed=tuple(place for name, place in gone if name not in left_out_now),
        not_selected=tuple(sorted([*unselected_then, *unselected_now])),
        baseline_uncounted=frozenset([*unselected_then.values(), *(then for then, _ in redefined)]),
        candidate_uncounted=frozenset([*unselected_now.values(), *(now for _, now in redefined)]),
    )
