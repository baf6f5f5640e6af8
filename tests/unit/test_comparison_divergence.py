"""Every change of behaviour is named at its case, where it shows first, and none is called environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from comparison.first_divergence import json_differences
from contracts.attempt import AgentEnd, AttemptRecord, Check, CheckType, TrajectoryCall
from contracts.comparison import Comparison
from contracts.outcome import OutcomeClass
from tests.fakes.compared_runs import FAIL, PASS, call, compared, done, side_of, with_conditions
from tests.fakes.written_runs import plan_of

LOOK = call("lookup_order", order_id="synthetic-42")
ASK = call("request_approval", order_id="synthetic-42", amount=24900)
PAY = call("issue_refund", order_id="synthetic-42", amount=24900, approval={"id": "approval-1", "by": ["ann", "bob"]})
CALLS = (LOOK, ASK, PAY)
TEXTS = ("One moment.", "The refund has been issued.")
CRASHED: dict[str, Any] = {
    "outcome": FAIL,
    "outcome_class": OutcomeClass.AGENT_ERROR,
    "agent_end": AgentEnd(exit_code=3, reason="exit"),
}
LATE: dict[str, Any] = {
    "outcome": FAIL,
    "outcome_class": OutcomeClass.LIMIT,
    "agent_end": AgentEnd(signal=15, reason="seconds"),
}
LONG = "x" * 100


def changed(one: TrajectoryCall, **fields: Any) -> TrajectoryCall:
    return one.model_copy(update=fields)


def arguments(one: TrajectoryCall, **changes: Any) -> TrajectoryCall:
    return changed(one, arguments={**one.arguments, **changes})


# name -> (calls, texts, other fields), (kind, turn, tool, pointer)
CHANGES: dict[str, tuple[tuple[Sequence[TrajectoryCall], Sequence[str], dict[str, Any]], tuple[Any, ...]]] = {
    "another tool first": (((call("search"), ASK, PAY), TEXTS, {}), ("tool", 1, "search", None)),
    "another tool later": (((LOOK, call("skip"), PAY), TEXTS, {}), ("tool", 2, "skip", None)),
    "another tool last": (((LOOK, ASK, call("notify")), TEXTS, {}), ("tool", 3, "notify", None)),
    "another order": (((ASK, LOOK, PAY), TEXTS, {}), ("tool", 1, "request_approval", None)),
    "the last two swapped": (((LOOK, PAY, ASK), TEXTS, {}), ("tool", 2, "issue_refund", None)),
    "a call left out at the start": (((ASK, PAY), TEXTS, {}), ("tool", 1, "request_approval", None)),
    "a call left out in the middle": (((LOOK, PAY), TEXTS, {}), ("tool", 2, "issue_refund", None)),
    "a call left out at the end": (((LOOK, ASK), TEXTS, {}), ("missing-call", 3, "issue_refund", None)),
    "no call at all": (((), TEXTS, {}), ("missing-call", 1, "lookup_order", None)),
    "a call more at the end": (((*CALLS, LOOK), TEXTS, {}), ("extra-call", 4, "lookup_order", None)),
    "a call more in the middle": (((LOOK, LOOK, ASK, PAY), TEXTS, {}), ("tool", 2, "lookup_order", None)),
    "a call twice at the end": (((*CALLS, PAY), TEXTS, {}), ("extra-call", 4, "issue_refund", None)),
    "another text value": (
        ((arguments(LOOK, order_id="synthetic-43"), ASK, PAY), TEXTS, {}),
        ("argument", 1, "lookup_order", "/order_id"),
    ),
    "another number": (
        ((LOOK, arguments(ASK, amount=1), PAY), TEXTS, {}),
        ("argument", 2, "request_approval", "/amount"),
    ),
    "a number as text": (
        ((LOOK, arguments(ASK, amount="24900"), PAY), TEXTS, {}),
        ("argument", 2, "request_approval", "/amount"),
    ),
    "true for one": (
        ((LOOK, arguments(ASK, amount=True), PAY), TEXTS, {}),
        ("argument", 2, "request_approval", "/amount"),
    ),
    "an argument more": (
        ((arguments(LOOK, verbose=True), ASK, PAY), TEXTS, {}),
        ("argument", 1, "lookup_order", "/verbose"),
    ),
    "an argument less": (
        ((LOOK, changed(ASK, arguments={"order_id": "synthetic-42"}), PAY), TEXTS, {}),
        ("argument", 2, "request_approval", "/amount"),
    ),
    "a nested argument": (
        ((LOOK, ASK, arguments(PAY, approval={"id": "approval-2", "by": ["ann", "bob"]})), TEXTS, {}),
        ("argument", 3, "issue_refund", "/approval/id"),
    ),
    "an item of a list": (
        ((LOOK, ASK, arguments(PAY, approval={"id": "approval-1", "by": ["ann", "eve"]})), TEXTS, {}),
        ("argument", 3, "issue_refund", "/approval/by/1"),
    ),
    "a longer list": (
        ((LOOK, ASK, arguments(PAY, approval={"id": "approval-1", "by": ["ann", "bob", "eve"]})), TEXTS, {}),
        ("argument", 3, "issue_refund", "/approval/by/2"),
    ),
    "a list for an object": (
        ((LOOK, ASK, arguments(PAY, approval=["approval-1"])), TEXTS, {}),
        ("argument", 3, "issue_refund", "/approval"),
    ),
    "a key with a slash": (
        ((arguments(LOOK, **{"a/b~c": 1}), ASK, PAY), TEXTS, {}),
        ("argument", 1, "lookup_order", "/a~1b~0c"),
    ),
    "a long text": (
        ((arguments(LOOK, order_id=f"<100 bytes sha256:{'0' * 64}>"), ASK, PAY), TEXTS, {}),
        ("argument", 1, "lookup_order", "/order_id"),
    ),
    "no arguments that could be read": (
        ((changed(LOOK, arguments=None), ASK, PAY), TEXTS, {}),
        ("argument", 1, "lookup_order", ""),
    ),
    "another status": (((changed(LOOK, status=404), ASK, PAY), TEXTS, {}), ("status", 1, "lookup_order", None)),
    "a refused call": (
        ((LOOK, changed(ASK, status="denied"), PAY), TEXTS, {}),
        ("status", 2, "request_approval", None),
    ),
    "a call that was only claimed": (
        ((LOOK, ASK, changed(PAY, made=False, claimed=True, counts=False)), TEXTS, {}),
        ("claim", 3, "issue_refund", None),
    ),
    "a call that was claimed too": (
        ((LOOK, ASK, changed(PAY, claimed=True)), TEXTS, {}),
        ("claim", 3, "issue_refund", None),
    ),
    "a lie more": (
        ((*CALLS, changed(LOOK, made=False, claimed=True, counts=False)), TEXTS, {}),
        ("extra-call", 4, "lookup_order", None),
    ),
    "a lie before the first call": (
        ((changed(LOOK, made=False, claimed=True, counts=False, arguments={"order_id": "x"}), *CALLS), TEXTS, {}),
        ("extra-call", 1, "lookup_order", None),
    ),
    "a lie between two calls": (
        ((LOOK, changed(PAY, made=False, claimed=True, counts=False), ASK, PAY), TEXTS, {}),
        ("extra-call", 2, "issue_refund", None),
    ),
    "another argument, by an agent that speaks of its calls": (
        (tuple(changed(one, claimed=True) for one in (LOOK, arguments(ASK, amount=1), PAY)), TEXTS, {}),
        ("argument", 2, "request_approval", "/amount"),
    ),
    "another text, by an agent that speaks of its calls": (
        (tuple(changed(one, claimed=True) for one in CALLS), ("Wait.", TEXTS[1]), {}),
        ("text", 1, None, None),
    ),
    "another first text": ((CALLS, ("Wait.", TEXTS[1]), {}), ("text", 1, None, None)),
    "another last text": ((CALLS, (TEXTS[0], "Done."), {}), ("text", 2, None, None)),
    "a text more": ((CALLS, (*TEXTS, "Bye."), {}), ("text", 3, None, None)),
    "a text less": ((CALLS, TEXTS[:1], {}), ("text", 2, None, None)),
    "silence": ((CALLS, (), {}), ("text", 1, None, None)),
    "a crash at the start": (((), (), CRASHED), ("end", 1, "lookup_order", None)),
    "a crash in the middle": (((LOOK,), TEXTS[:1], CRASHED), ("end", 2, "request_approval", None)),
    "a crash before the answer": ((CALLS, TEXTS[:1], CRASHED), ("end", 2, None, None)),
    "a crash after everything": ((CALLS, TEXTS, CRASHED), ("end", None, None, None)),
    "an error event": (
        (CALLS, TEXTS, {"outcome": FAIL, "outcome_class": OutcomeClass.AGENT_ERROR}),
        ("end", None, None, None),
    ),
    "slower than its limit": ((CALLS, TEXTS[:1], LATE), ("end", 2, None, None)),
    "slower than its limit after everything": ((CALLS, TEXTS, LATE), ("end", None, None, None)),
}


def attempt(calls: Sequence[TrajectoryCall], texts: Sequence[str], fields: dict[str, Any]) -> AttemptRecord:
    return done(plan_of("p", "a"), "a", *calls, texts=tuple(texts), **fields)


def comparison_of(tmp_path: Path, was: AttemptRecord, now: AttemptRecord, **of_plan: Any) -> Comparison:
    plan = plan_of("p", "a")
    other = plan.model_copy(update=of_plan)
    return compared(side_of(tmp_path, plan, done(plan, "p"), was), side_of(tmp_path, other, done(plan, "p"), now))


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_behaviour_is_named_at_its_case_with_its_first_divergence(tmp_path: Path, name: str) -> None:
    (calls, texts, fields), expected = CHANGES[name]
    found = comparison_of(tmp_path, attempt(CALLS, TEXTS, {}), attempt(calls, texts, fields))
    [change] = found.cases
    assert change.case_id == "a"
    assert change.kind == ("regressed" if fields else "changed")
    divergence = change.divergence
    assert divergence is not None
    assert (divergence.kind, divergence.turn, divergence.tool, divergence.pointer) == expected
    assert (divergence.file, divergence.baseline_line, divergence.candidate_line) == ("traces/attempts.jsonl", 2, 2)
    assert (found.subject, found.drift, found.tool_responses) == ((), (), ())


@pytest.mark.parametrize("name", CHANGES)
def test_the_way_back_parts_at_the_same_place(tmp_path: Path, name: str) -> None:
    (calls, texts, fields), (kind, turn, _, pointer) = CHANGES[name]
    [change] = comparison_of(tmp_path, attempt(calls, texts, fields), attempt(CALLS, TEXTS, {})).cases
    mirrored = {"missing-call": "extra-call", "extra-call": "missing-call"}
    assert change.kind == ("improved" if fields else "changed")
    assert change.divergence is not None
    assert (change.divergence.kind, change.divergence.turn) == (mirrored.get(kind, kind), turn)
    assert change.divergence.pointer == pointer


def test_of_another_adapter_only_what_was_done_is_behaviour_and_not_whether_it_was_told(tmp_path: Path) -> None:
    told = tuple(changed(one, claimed=True) for one in CALLS)
    plan = plan_of("p", "a")
    sides = [side_of(tmp_path, plan, done(plan, "p"), attempt(calls, TEXTS, {})) for calls in (told, CALLS)]
    other = with_conditions(sides[1], adapter="http")
    assert compared(sides[0], sides[1]).changed == ("a",)
    assert compared(sides[0], other).cases == ()
    assert compared(other, sides[0]).cases == ()


def test_values_are_told_where_the_capture_level_has_them(tmp_path: Path) -> None:
    found = comparison_of(
        tmp_path, attempt(CALLS, TEXTS, {}), attempt((LOOK, arguments(ASK, amount=1), PAY), TEXTS, {})
    )
    assert found.cases[0].divergence is not None
    assert (found.cases[0].divergence.baseline, found.cases[0].divergence.candidate) == (24900, 1)


def test_a_text_kept_whole_and_the_same_text_kept_as_a_digest_are_the_same(tmp_path: Path) -> None:
    from ledger.capture import captured_text  # noqa: PLC0415 - beside its use

    kept = attempt((arguments(LOOK, order_id=LONG), ASK, PAY), (LONG,), {})
    told = captured_text(LONG, level="metadata")
    cut = attempt((arguments(LOOK, order_id=told), ASK, PAY), (told,), {"trajectory_digest": kept.trajectory_digest})
    found = comparison_of(tmp_path, cut, kept, capture="payloads")
    assert (found.changed, found.cases) == ((), ())
    huge = "y" * 70_000
    both = [captured_text(huge, level=level) for level in ("metadata", "payloads")]
    found = comparison_of(tmp_path, attempt(CALLS, both[:1], {}), attempt(CALLS, both[1:], {}), capture="payloads")
    assert found.cases == ()


def test_no_body_of_one_run_is_told_where_the_other_one_keeps_none(tmp_path: Path) -> None:
    secret = "a body that only the run with payloads may tell, because it is longer than 64 bytes " * 2
    found = comparison_of(
        tmp_path, attempt(CALLS, TEXTS, {}), attempt(CALLS, (TEXTS[0], secret), {}), capture="payloads"
    )
    assert secret[:70] not in found.to_line()
    assert found.cases[0].divergence is not None
    assert str(found.cases[0].divergence.candidate).startswith(f"<{len(secret)} bytes sha256:")


def test_a_check_that_flipped_says_expected_actual_and_why(tmp_path: Path) -> None:
    good = Check(name="size", type=CheckType.SIZE, outcome=PASS, expected="S", actual="S")
    bad = Check(name="size", type=CheckType.SIZE, outcome=FAIL, expected="S", actual="XL", reason="9000 bytes")
    f1 = [Check(name="tool-calls", type=CheckType.TOOL_CALLS, outcome=PASS, score=score) for score in (1.0, 0.9)]
    found = comparison_of(
        tmp_path,
        attempt(CALLS, TEXTS, {"checks": (good, f1[0])}),
        attempt(CALLS, TEXTS, {"checks": (bad, f1[1]), "outcome": FAIL, "reason": "size: does not hold"}),
    )
    [change] = found.cases
    assert change.reason == "passed before; size: does not hold"
    size, calls = change.checks
    assert (size.name, size.was, size.now, size.expected, size.actual, size.reason) == (
        *("size", PASS, FAIL, "S", "XL"),
        "9000 bytes",
    )
    assert (size.baseline_actual, calls.name, calls.was, calls.now) == ("S", "tool-calls", PASS, PASS)


def test_a_check_that_only_one_side_has_is_told_as_such(tmp_path: Path) -> None:
    good, check = (
        Check(name="size", type=CheckType.SIZE, outcome=PASS),
        Check(name="limit cost", type=CheckType.LIMIT, outcome=FAIL),
    )
    of_limit: dict[str, Any] = {"checks": (good, check), "outcome": FAIL, "outcome_class": OutcomeClass.LIMIT}
    found = comparison_of(tmp_path, attempt(CALLS, TEXTS, {"checks": (good,)}), attempt(CALLS, TEXTS, of_limit))
    assert [(one.was, one.now) for one in found.cases[0].checks] == [(None, FAIL)]


def test_a_case_that_never_started_parts_before_its_first_call(tmp_path: Path) -> None:
    plan = plan_of("p", "a")
    found = compared(
        side_of(tmp_path, plan, done(plan, "p"), done(plan, "a")), side_of(tmp_path, plan, done(plan, "p"))
    )
    [change] = found.cases
    assert (change.kind, change.gates) == ("unknown", True)
    assert change.divergence is not None
    assert (change.divergence.kind, change.divergence.baseline_line, change.divergence.candidate_line) == (
        "not-run",
        2,
        None,
    )


def test_json_values_differ_at_pointers() -> None:
    was, now = {"a": [1, {"b": 2}], "c": None}, {"a": [1, {"b": 3}], "c": None, "": 0}
    assert list(json_differences(was, now)) == [("/a/1/b", 2, 3), ("/", None, 0)]
    assert list(json_differences(1, 1.0)) == []
    assert list(json_differences({"a": 1}, {"a": True})) == [("/a", 1, True)]
