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
    baseline_alone: frozenset[int]
    candidate_alone: frozenset[int]
    """Left out of the other side by --case or --only: neither added nor removed, and in no rate."""
    not_selected: tuple[str, ...]
    """Ids of both of these, sorted."""


def pair_cases(baseline: Side, candidate: Side) -> Pairing:
    """Pair the cases of two runs by their ids."""
    were, are = baseline.rows.index, candidate.rows.index
    paired = tuple((were[name], place) for name, place in are.items() if name in were)
    gone = [(name, place) for name, place in were.items() if name not in are]
    new = [(name, place) for name, place in are.items() if name not in were]
    left_out_now, left_out_then = set(candidate.plan.not_selected), set(baseline.plan.not_selected)
    return Pairing(
        paired=paired,
        added=tuple(place for name, place in new if name not in left_out_then),
        removed=tuple(place for name, place in gone if name not in left_out_now),
        baseline_alone=frozenset(place for name, place in gone if name in left_out_now),
        candidate_alone=frozenset(place for name, place in new if name in left_out_then),
        not_selected=tuple(
            sorted(
                [name for name, _ in gone if name in left_out_now] + [name for name, _ in new if name in left_out_then]
            )
        ),
    )
