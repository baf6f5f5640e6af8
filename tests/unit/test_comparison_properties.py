"""Over generated runs: totals, mirrors, and the order of the rules."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comparison.sides import Side
from contracts.comparison import Comparison, Verdict
from contracts.outcome import Outcome
from tests.fakes.compared_runs import call, compared, done, side_of, with_conditions, with_plan
from tests.fakes.written_runs import plan_of

NAMES = ("p", "a", "b", "c", "d", "e")
PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
_folders = itertools.count()

case = st.tuples(st.sampled_from(Outcome), st.sampled_from(("x", "y")), st.sampled_from("01"))
run = st.dictionaries(st.sampled_from(NAMES), case, min_size=1).map(lambda cases: {"p": (PASS, "x", "0"), **cases})


def _side(folder: Path, cases: dict[str, tuple[Outcome, str, str]], *, seed: int, is_narrowed: bool) -> Side:
    plan = plan_of(*cases)
    plan = plan.model_copy(
        update={
            "cases": tuple(
                replace(planned, case_digest="sha256:" + cases[planned.case_id][2] * 64) for planned in plan.cases
            )
        }
    )
    records = [done(plan, name, call(tool), outcome=outcome) for name, (outcome, tool, _) in cases.items()]
    side = with_conditions(side_of(folder / str(next(_folders)), plan, *records), seed=seed)
    return with_plan(side, not_selected=tuple(name for name in NAMES if name not in cases)) if is_narrowed else side


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generated")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    was=run,
    now=run,
    seeds=st.tuples(st.sampled_from((1, 1, 1, 2)), st.sampled_from((1, 1, 1, 2))),
    narrowed=st.tuples(st.booleans(), st.booleans()),
    tolerance=st.sampled_from(("0", "0.1", "1")),
    removed=st.booleans(),
)
def test_totals_mirrors_and_the_order_of_the_rules_hold(
    folder: Path,
    *,
    was: dict[str, tuple[Outcome, str, str]],
    now: dict[str, tuple[Outcome, str, str]],
    seeds: tuple[int, int],
    narrowed: tuple[bool, bool],
    tolerance: str,
    removed: bool,
) -> None:
    baseline = _side(folder, was, seed=seeds[0], is_narrowed=narrowed[0])
    candidate = _side(folder, now, seed=seeds[1], is_narrowed=narrowed[1])
    there = compared(baseline, candidate, tolerance=tolerance, removed=removed)
    back = compared(candidate, baseline, tolerance=tolerance, removed=removed)
    _totals_hold(there, was, now, narrowed)
    _mirrors_hold(there, back)
    stayed = {name: one for name, one in was.items() if name not in there.removed}
    kept = _side(folder, stayed, seed=seeds[0], is_narrowed=narrowed[0])
    without = there if not there.removed else compared(kept, candidate, tolerance=tolerance, removed=removed)
    _order_holds(there, without, was, now, seeds=seeds, tolerance=tolerance, removed=removed)


def _totals_hold(found: Comparison, was: dict, now: dict, narrowed: tuple[bool, bool]) -> None:  # type: ignore[type-arg]
    assert len(set(found.cases_regressed) | set(found.cases_improved) | set(found.changed)) == len(
        found.cases_regressed + found.cases_improved + found.changed
    )
    lists = [found.cases_regressed, found.cases_improved, found.changed, found.added, found.removed, found.not_selected]
    assert all(len(set(one)) == len(one) for one in [*lists, found.unknown])
    assert sorted(found.added + found.removed + found.not_selected) == sorted(was.keys() ^ now.keys())
    assert found.cases_added == len(found.added)
    assert set(found.unknown) & set(found.cases_regressed + found.cases_improved + found.changed) == set()
    redefined = sum(was[name][2] != now[name][2] for name in was.keys() & now.keys())
    counted = [
        len(one) - redefined - (len(one.keys() - other.keys()) if is_narrowed else 0)
        for one, other, is_narrowed in ((was, now, narrowed[1]), (now, was, narrowed[0]))
    ]
    assert [found.summary.baseline.planned, found.summary.candidate.planned] == counted
    if found.statistics is not None:
        assert found.statistics.regressions == len(found.cases_regressed)
        assert found.statistics.improvements == len(found.cases_improved)


def _mirrors_hold(there: Comparison, back: Comparison) -> None:
    assert set(there.cases_regressed) == set(back.cases_improved)
    assert set(there.cases_improved) == set(back.cases_regressed)
    assert (set(there.added), set(there.removed)) == (set(back.removed), set(back.added))
    assert set(there.unknown) == set(back.unknown)
    assert set(there.changed) == set(back.changed)
    assert there.not_selected == back.not_selected
    assert [one.key for one in there.drift] == [one.key for one in back.drift]
    deltas = {metric.name: metric.delta for metric in there.metrics}
    assert {metric.name: -metric.delta for metric in back.metrics if metric.delta is not None} == {
        name: delta for name, delta in deltas.items() if delta is not None
    }


def _order_holds(
    found: Comparison,
    without_removed: Comparison,
    was: dict[str, tuple[Outcome, str, str]],
    now: dict[str, tuple[Outcome, str, str]],
    *,
    seeds: tuple[int, int],
    tolerance: str,
    removed: bool,
) -> None:
    """The rules once more, written down without looking at how they are kept."""
    both = was.keys() & now.keys()
    same = {name for name in both if was[name][2] == now[name][2]}
    flips = {name: (was[name][0], now[name][0]) for name in same}
    open_questions = {
        name for name, flip in flips.items() if flip in {(PASS, UNKNOWN), (UNKNOWN, FAIL), (UNKNOWN,) * 2}
    }
    gone = {name for name in found.removed if not removed or name == next(iter(was))}
    new = {name for name in found.added if now[name][0] is UNKNOWN}
    worse = _worse(found, tolerance) & _worse(without_removed, tolerance)
    if seeds[0] != seeds[1]:
        expected = Verdict.CANNOT_TELL
    elif (PASS, FAIL) in flips.values() or worse:
        expected = Verdict.REGRESSION
    elif open_questions or gone or new or same != both:
        expected = Verdict.CANNOT_TELL
    else:
        expected = Verdict.NO_REGRESSION
    assert found.verdict is expected


def _worse(found: Comparison, tolerance: str) -> set[str]:
    return {
        metric.name
        for metric in found.metrics
        if metric.delta is not None
        and metric.gates
        and Decimal(repr(metric.delta)) * (1 if metric.name == "failureRate" else -1) > Decimal(tolerance)
    }
