"""CONTRACT §8, rules 2 to 7: what becomes of each case, what gates, and in which order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from comparison.compare import compare
from comparison.sides import Allowance
from contracts.attempt import AttemptRecord
from contracts.comparison import Verdict
from contracts.exits import Exit
from contracts.outcome import Outcome, OutcomeClass
from tests.fakes.compared_runs import (
    FAIL,
    PASS,
    UNKNOWN,
    call,
    compared,
    done,
    outcomes_side,
    side_of,
    with_conditions,
    with_manifest,
    with_plan,
)
from tests.fakes.written_runs import plan_of

RULES: dict[tuple[Outcome, Outcome], tuple[str | None, Verdict]] = {
    (PASS, PASS): (None, Verdict.NO_REGRESSION),
    (PASS, FAIL): ("regressed", Verdict.REGRESSION),
    (PASS, UNKNOWN): ("unknown", Verdict.CANNOT_TELL),
    (FAIL, PASS): ("improved", Verdict.NO_REGRESSION),
    (FAIL, FAIL): (None, Verdict.NO_REGRESSION),
    (FAIL, UNKNOWN): ("unknown", Verdict.NO_REGRESSION),
    (UNKNOWN, PASS): ("unknown", Verdict.NO_REGRESSION),
    (UNKNOWN, FAIL): ("unknown", Verdict.CANNOT_TELL),
    (UNKNOWN, UNKNOWN): ("unknown", Verdict.CANNOT_TELL),
}


@pytest.mark.parametrize(("was", "now"), RULES, ids=str)
def test_a_pair_of_outcomes_means_what_the_contract_says(tmp_path: Path, was: Outcome, now: Outcome) -> None:
    kind, verdict = RULES[was, now]
    found = compared(
        outcomes_side(tmp_path, {"x": PASS, "a": was}), outcomes_side(tmp_path, {"x": PASS, "a": now}), tolerance="1"
    )
    lists = {"regressed": found.cases_regressed, "improved": found.cases_improved, "unknown": found.unknown}
    assert lists == {name: ("a",) if name == kind else () for name in lists}
    assert found.verdict is verdict
    if kind is not None:
        assert [(change.case_id, change.was, change.now) for change in found.cases] == [("a", was, now)]


def test_a_case_that_passed_and_fails_gates_whatever_the_tolerance_and_the_rates(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"x": PASS, "y": FAIL})
    found = compared(baseline, outcomes_side(tmp_path, {"x": FAIL, "y": PASS}), tolerance="1")
    assert (found.cases_regressed, found.cases_improved) == (("x",), ("y",))
    assert found.verdict.exit_code is Exit.NO
    assert not any(metric.regressed for metric in found.metrics)
    assert found.reasons[0] == "1 case passed and fails now: x"


def test_nine_unknown_cases_of_ten_are_cannot_tell_and_never_a_hundred_percent(tmp_path: Path) -> None:
    names = [f"case-{number}" for number in range(10)]
    found = compared(
        outcomes_side(tmp_path, dict.fromkeys(names, PASS)),
        outcomes_side(tmp_path, dict.fromkeys(names, UNKNOWN) | {names[0]: PASS}),
    )
    assert found.verdict is Verdict.CANNOT_TELL
    assert found.summary.candidate.pass_rate == (0.1, 1.0)
    assert len(found.unknown) == 9


def test_removed_and_added_cases_are_listed_and_the_added_ones_move_the_rates(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"p": PASS, "x": FAIL, "y": FAIL, "z": FAIL})
    candidate = outcomes_side(tmp_path, {"p": PASS, "new-1": FAIL, "new-2": FAIL})
    found = compared(baseline, candidate)
    assert (found.added, found.cases_added, found.removed) == (("new-1", "new-2"), 2, ("x", "y", "z"))
    assert found.verdict is Verdict.CANNOT_TELL
    assert found.reasons[0] == "3 cases are removed; to allow it: --allow-removed: x, y, z"
    assert compared(baseline, candidate, removed=True).verdict is Verdict.NO_REGRESSION
    rates = {metric.name: (metric.baseline, metric.candidate) for metric in found.metrics}
    assert rates["failureRate"] == (0.75, 0.666667)
    worse = outcomes_side(tmp_path, {"p": PASS, **dict.fromkeys(("a", "b", "c", "d"), FAIL)})
    moved = compared(baseline, worse, removed=True)
    assert "failureRate" in [metric.name for metric in moved.metrics if metric.regressed]
    assert moved.verdict is Verdict.REGRESSION


def test_a_rate_that_is_worse_only_because_a_case_was_removed_did_not_regress(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"p": PASS, "x": PASS, "y": FAIL})
    candidate = outcomes_side(tmp_path, {"p": PASS, "y": FAIL})
    found = compared(baseline, candidate)
    assert (found.verdict, found.removed) == (Verdict.CANNOT_TELL, ("x",))
    assert compared(baseline, candidate, removed=True).verdict is Verdict.NO_REGRESSION
    assert {one.name: (one.delta, one.regressed) for one in found.metrics}["failureRate"] == (0.166667, False)


def test_a_rate_that_fell_among_the_cases_that_stayed_regressed_whatever_was_removed(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"p": PASS, "x": PASS, "y": FAIL})
    candidate = outcomes_side(tmp_path, {"p": PASS, "y": FAIL, "new-1": FAIL, "new-2": FAIL})
    assert compared(baseline, candidate, removed=True).verdict is Verdict.REGRESSION


def test_a_protected_case_is_never_covered_by_allow_removed(tmp_path: Path) -> None:
    found = compared(
        outcomes_side(tmp_path, {"p": PASS, "x": PASS}), outcomes_side(tmp_path, {"x": PASS}), removed=True
    )
    assert found.verdict is Verdict.CANNOT_TELL
    assert found.reasons == ("1 case is protected and removed, which nothing allows: p",)


def test_an_added_case_that_could_not_be_told_leaves_the_verdict_open(tmp_path: Path) -> None:
    found = compared(outcomes_side(tmp_path, {"p": PASS}), outcomes_side(tmp_path, {"p": PASS, "new": UNKNOWN}))
    assert (found.verdict, found.added, found.unknown) == (Verdict.CANNOT_TELL, ("new",), ("new",))


def test_a_case_whose_definition_changed_is_unknown_and_no_flip(tmp_path: Path) -> None:
    plan = plan_of("p", "a")
    edited = plan.model_copy(update={"cases": (plan.cases[0], plan_of("p", "a").cases[1])})
    edited = edited.model_copy(
        update={"cases": (edited.cases[0], replace(edited.cases[1], case_digest="sha256:" + "2" * 64))}
    )
    found = compared(
        side_of(tmp_path, plan, done(plan, "p"), done(plan, "a")),
        side_of(tmp_path, edited, done(edited, "p"), done(edited, "a", outcome=FAIL)),
        tolerance="1",
    )
    assert (found.unknown, found.cases_regressed, found.verdict) == (("a",), (), Verdict.CANNOT_TELL)
    assert found.reasons[0] == "1 case is defined otherwise than before: a"
    assert found.statistics is not None
    assert found.statistics.paired == 1


def test_cases_that_one_side_did_not_select_are_never_removed_and_in_no_rate(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"p": PASS, "x": FAIL, "y": FAIL})
    candidate = with_plan(outcomes_side(tmp_path, {"p": PASS}), not_selected=("x", "y"))
    for found in (compared(baseline, candidate), compared(candidate, baseline)):
        assert (found.not_selected, found.removed, found.added) == (("x", "y"), (), ())
        assert found.verdict is Verdict.NO_REGRESSION
        rates = {metric.name: (metric.baseline, metric.candidate) for metric in found.metrics}
        assert rates["failureRate"] == (0.0, 0.0)
        assert (found.summary.baseline.planned, found.summary.candidate.planned) == (1, 1)


def test_a_case_that_the_suite_lost_is_removed_even_where_the_candidate_was_narrowed(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"p": PASS, "x": PASS, "y": PASS})
    found = compared(baseline, with_plan(outcomes_side(tmp_path, {"p": PASS}), not_selected=("x",)))
    assert (found.not_selected, found.removed) == (("x",), ("y",))


def test_drift_comes_first_and_no_difference_of_the_cases_is_called_behaviour(tmp_path: Path) -> None:
    baseline = outcomes_side(tmp_path, {"p": PASS, "a": PASS, "b": FAIL})
    candidate = with_conditions(outcomes_side(tmp_path, {"p": PASS, "a": FAIL, "b": PASS}), seed=2)
    found = compared(baseline, candidate)
    assert found.verdict is Verdict.CANNOT_TELL
    assert (found.cases_regressed, found.cases_improved, found.changed, found.unknown) == ((), (), (), ("a", "b"))
    assert [(change.was, change.now) for change in found.cases] == [(PASS, FAIL), (FAIL, PASS)]
    assert found.statistics is None
    assert not any(metric.regressed for metric in found.metrics)
    allowed = compared(baseline, candidate, "seed")
    assert (allowed.verdict, allowed.cases_regressed) == (Verdict.REGRESSION, ("a",))
    assert "drift that was allowed: seed" in allowed.reasons
    assert compared(baseline, candidate, "clock").verdict is Verdict.CANNOT_TELL


def test_a_regression_outranks_what_cannot_be_told(tmp_path: Path) -> None:
    found = compared(
        outcomes_side(tmp_path, {"p": PASS, "a": PASS, "b": PASS}),
        outcomes_side(tmp_path, {"p": PASS, "a": FAIL, "b": UNKNOWN}),
        tolerance="1",
    )
    assert found.verdict is Verdict.REGRESSION
    assert [reason.split(":")[0] for reason in found.reasons] == [
        "1 case passed and fails now",
        "1 case is unknown now, after a pass",
    ]


def test_protected_cases_come_first_in_every_list(tmp_path: Path) -> None:
    plan = plan_of("z", "a", "b")  # z is protected
    found = compared(
        side_of(tmp_path, plan, *(done(plan, name) for name in ("a", "b", "z"))),
        side_of(tmp_path, plan, *(done(plan, name, outcome=FAIL) for name in ("a", "b", "z"))),
    )
    assert found.cases_regressed == ("z", "a", "b")


def test_a_run_compared_with_itself_is_allowed_and_says_so(tmp_path: Path) -> None:
    side = outcomes_side(tmp_path, {"p": PASS, "a": FAIL})
    found = compared(side, side)
    assert found.verdict is Verdict.NO_REGRESSION
    assert "baseline and candidate are the same run: nothing can differ" in found.reasons


def test_two_runs_of_one_name_are_not_the_same_run(tmp_path: Path) -> None:
    side = outcomes_side(tmp_path, {"p": PASS, "a": FAIL})
    later = with_manifest(side, finished_at="2026-09-01T12:00:06.000Z")
    assert not any("the same run" in reason for reason in compared(side, later).reasons)


def test_with_repeats_a_case_passes_when_all_of_them_do(tmp_path: Path) -> None:
    plan = plan_of("p", "a", repeats=3)

    def repeated(*outcomes: Outcome) -> list[AttemptRecord]:
        return [
            done(plan, name, attempt=number, repeat=number, outcome=outcome if name == "a" else PASS)
            for name in ("p", "a")
            for number, outcome in enumerate(outcomes, start=1)
        ]

    baseline, candidate = (
        side_of(tmp_path, plan, *repeated(*outcomes)) for outcomes in ((PASS,) * 3, (PASS, FAIL, PASS))
    )
    found = compared(baseline, candidate, tolerance="1")
    assert (found.cases_regressed, found.verdict) == (("a",), Verdict.REGRESSION)
    assert found.repeats is not None
    assert found.repeats.candidate is not None
    means = found.repeats.candidate
    assert (means.repeats, means.flaky, means.pass_at_k, means.pass_hat_k) == (3, 1, 1.0, 0.5)
    assert means.pass_at_1 == pytest.approx(5 / 6)
    assert found.statistics is not None
    assert found.statistics.clustered is not None
    assert found.statistics.clustered.difference == pytest.approx(-1 / 6)
    change = found.cases[0]
    assert [(check.was, check.now) for check in change.checks] == [(PASS, FAIL)]


def test_another_number_of_repeats_is_context_and_no_change_of_behaviour(tmp_path: Path) -> None:
    once, thrice = plan_of("p"), plan_of("p", repeats=3)
    found = compared(
        side_of(tmp_path, once, done(once, "p")),
        side_of(tmp_path, thrice, *(done(thrice, "p", attempt=number, repeat=number) for number in (1, 2, 3))),
    )
    assert (found.changed, found.verdict) == ((), Verdict.NO_REGRESSION)
    assert "repeat" in [difference.key for difference in found.context]


def test_the_last_try_decides_and_all_tries_are_kept(tmp_path: Path) -> None:
    plan = plan_of("p", "a")
    retried = [
        done(plan, "a", outcome=UNKNOWN, attempt=1),
        done(plan, "a", attempt=2, retry_of=1),
    ]
    baseline = side_of(tmp_path, plan, done(plan, "p"), done(plan, "a"))
    found = compared(baseline, side_of(tmp_path, plan, done(plan, "p"), *retried))
    assert (found.verdict, found.unknown, found.changed) == (Verdict.NO_REGRESSION, (), ())


def test_cost_and_time_are_reported_and_never_gate(tmp_path: Path) -> None:
    plan = plan_of("p")
    slow = done(plan, "p", duration_ms=90_000)
    found = compared(side_of(tmp_path, plan, done(plan, "p", duration_ms=1)), side_of(tmp_path, plan, slow))
    duration = next(metric for metric in found.metrics if metric.name == "durationMs")
    assert (duration.delta, duration.gates, duration.regressed) == (89_999, False, False)
    assert found.verdict is Verdict.NO_REGRESSION


def test_equal_inputs_give_equal_records(tmp_path: Path) -> None:
    sides = outcomes_side(tmp_path, {"p": PASS, "a": PASS}), outcomes_side(tmp_path, {"p": FAIL, "a": UNKNOWN})
    assert compared(*sides) == compared(*sides)
    assert compare(*sides, allowance=Allowance()).to_line() == compare(*sides, allowance=Allowance()).to_line()


def test_a_failure_of_another_class_is_a_change_of_an_equal_outcome(tmp_path: Path) -> None:
    plan = plan_of("p")
    found = compared(
        side_of(tmp_path, plan, done(plan, "p", outcome=FAIL, outcome_class=OutcomeClass.AGENT_ERROR)),
        side_of(tmp_path, plan, done(plan, "p", outcome=FAIL, outcome_class=OutcomeClass.LIMIT)),
    )
    assert found.changed == ("p",)
    assert found.cases[0].divergence is not None
    assert found.cases[0].divergence.kind == "end"


def test_a_call_more_in_a_case_that_passes_all_the_same_is_changed(tmp_path: Path) -> None:
    plan = plan_of("p")
    found = compared(
        side_of(tmp_path, plan, done(plan, "p", call("a"))),
        side_of(tmp_path, plan, done(plan, "p", call("a"), call("b"))),
    )
    assert (found.changed, found.verdict) == (("p",), Verdict.NO_REGRESSION)
