"""What stays of actual values at each capture level."""

from __future__ import annotations

import hashlib

import pytest

from contracts.attempt import AttemptRecord, Check, CheckType, TrajectoryCall
from contracts.outcome import Outcome, OutcomeClass
from ledger.capture import WHOLE_BYTES, capture_attempt, captured
from tests.fakes.written_runs import attempt_of, plan_of

LONG = "An answer with order synthetic-42 and a good deal more text than sixty-four bytes."


def _digest(text: str) -> str:
    return f"<{len(text.encode())} bytes sha256:{hashlib.sha256(text.encode()).hexdigest()}>"


def test_metadata_keeps_scalars_up_to_64_bytes_and_digests_of_longer_ones() -> None:
    assert captured("x" * 64, level="metadata") == "x" * 64
    assert captured("x" * 65, level="metadata") == _digest("x" * 65)
    assert captured("ü" * 33, level="metadata") == _digest("ü" * 33)  # 66 bytes of UTF-8


def test_metadata_keeps_the_shape_of_a_value_with_its_names_and_numbers() -> None:
    value = {"order": {"note": LONG, "amount": 24900, "paid": True, "tags": [None, "a", LONG]}, LONG: 1.5}
    assert captured(value, level="metadata") == {
        "order": {"note": _digest(LONG), "amount": 24900, "paid": True, "tags": [None, "a", _digest(LONG)]},
        _digest(LONG): 1.5,
    }


def test_a_number_of_more_than_64_digits_is_a_long_scalar_too() -> None:
    assert captured(10**70, level="metadata") == _digest(str(10**70))


def test_payloads_keep_texts_whole_up_to_the_limit_and_say_when_they_were_cut() -> None:
    assert captured([LONG], level="payloads") == [LONG]
    assert captured("x" * WHOLE_BYTES, level="payloads") == "x" * WHOLE_BYTES
    text = "ü" * WHOLE_BYTES
    cut = captured("a" + text, level="payloads")
    assert cut.startswith("a" + "ü" * (WHOLE_BYTES // 2 - 1) + "<cut to 65536 of 131073 bytes sha256:")


def test_a_lone_surrogate_becomes_something_that_a_file_can_hold() -> None:
    assert captured("a\ud800b", level="metadata") == "a?b"


@pytest.fixture
def told() -> AttemptRecord:
    """An attempt that tells a long text in every place that comes from agent, model or judge."""
    call = TrajectoryCall(
        tool=LONG, arguments={"note": LONG}, status=LONG, made=False, claimed=True, counts=True, result=LONG
    )
    check = Check(
        name=LONG,
        type=CheckType.RELEVANCE,
        outcome=Outcome.FAIL,
        expected=[LONG],
        actual=[LONG],
        reason=LONG,
    )
    return attempt_of(
        plan_of("a"),
        "a",
        outcome=Outcome.FAIL,
        outcome_class=OutcomeClass.AGENT_ERROR,
        reason="its reply is no chat completion",
        checks=(check,),
        trajectory=(call,),
        texts=(LONG, "short"),
        log=LONG,
    )


def test_metadata_keeps_expectations_and_no_text_of_agent_model_or_judge(told: AttemptRecord) -> None:
    kept = capture_attempt(told, level="metadata")
    assert (kept.checks[0].name, kept.checks[0].expected) == (LONG, [LONG])
    kept_texts = kept.model_copy(update={"checks": (kept.checks[0].model_copy(update={"name": "", "expected": None}),)})
    assert "synthetic-42" not in kept_texts.to_line()
    assert kept_texts.to_line().count(_digest(LONG)) == 8
    assert kept.texts == (_digest(LONG), "short")


def test_metadata_keeps_counts_times_digests_and_the_lab_s_own_reasons(told: AttemptRecord) -> None:
    for outcome_class in OutcomeClass:
        own = told.model_copy(update={"outcome_class": outcome_class, "reason": LONG})
        assert capture_attempt(own, level="metadata").reason == LONG, outcome_class
    kept = capture_attempt(told, level="metadata")
    for name in ("case_id", "tool_calls", "trajectory_digest", "duration_ms", "usage", "journal_rows", "outcome"):
        assert getattr(kept, name) == getattr(told, name)


def test_a_check_that_could_not_tell_says_why_in_the_lab_s_words(told: AttemptRecord) -> None:
    check = told.checks[0].model_copy(update={"type": CheckType.ASSERTION, "outcome": Outcome.UNKNOWN})
    kept = capture_attempt(told.model_copy(update={"checks": (check,)}), level="metadata")
    assert kept.checks[0].reason == LONG


def test_a_name_that_the_suite_gave_stays_plain_whatever_its_length(told: AttemptRecord) -> None:
    made = told.model_copy(update={"trajectory": (told.trajectory[0].model_copy(update={"made": True}),)})
    assert capture_attempt(made, level="metadata").trajectory[0].tool == LONG


def test_a_reason_made_of_names_and_counts_stays_plain(told: AttemptRecord) -> None:
    order = told.checks[0].model_copy(update={"type": CheckType.TOOL_ORDER})
    kept = capture_attempt(told.model_copy(update={"checks": (order,)}), level="metadata")
    assert kept.checks[0].reason == LONG
    assert kept.checks[0].actual == [_digest(LONG)]


def test_payloads_keep_an_attempt_as_it_is(told: AttemptRecord) -> None:
    assert capture_attempt(told, level="payloads") == told


def test_a_captured_attempt_can_be_read_back(told: AttemptRecord) -> None:
    kept = capture_attempt(told, level="metadata")
    assert AttemptRecord.model_validate_json(kept.to_line()) == kept
