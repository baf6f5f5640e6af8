"""The judge without a model: what it may decide, what it sees, and attempts that do not wait for each other."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from contracts.attempt import Check, CheckType, TrajectoryCall
from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome, OutcomeClass
from driver.judging import settings
from driver.judging.answers import answer_of
from driver.judging.attempts import Judging
from driver.judging.deciding import with_verdicts
from driver.judging.judge import Judge, Told
from driver.judging.prompt import prompt_digest, question
from driver.judging.transcript import transcript_of
from ledger.capture import capture_attempt
from providers.conversation import ProviderError, Reply, ToolCall, object_of
from tests.fakes.assignments import call_of, case_of
from tests.fakes.judged_attempts import record_of, waiting

PASSED = Check(name="assertion", type=CheckType.ASSERTION, outcome=Outcome.PASS)
FAILED = Check(name="assertion", type=CheckType.ASSERTION, outcome=Outcome.FAIL)
PATIENCE_S = 30.0


def verdict(result: str, reason: str = "shown") -> Reply:
    return called(json.dumps({"reason": reason, "result": result}))


def called(written: str, *, name: str = "judge_response", is_cut: bool = False) -> Reply:
    return Reply(text=None, calls=(ToolCall("1", name, object_of(written), written),), is_cut=is_cut)


class ScriptedJudge:
    """Gives replies, or raises, in order; an event holds an answer back."""

    def __init__(self, *replies: Reply | Exception, until: threading.Event | None = None) -> None:
        self.replies = iter(replies)
        self.until = until
        self.texts: list[str] = []
        self.most_s: list[float] = []

    def ask(self, text: str, *, seed: int, most_s: float) -> Reply:
        self.texts.append(text)
        self.most_s.append(most_s)
        if self.until is not None:
            self.until.wait(PATIENCE_S)
        reply = next(self.replies)
        if isinstance(reply, Exception):
            raise reply
        return reply


def tell(*replies: Reply | Exception, votes: int = 1) -> Told:
    return Judge(ScriptedJudge(*replies), votes=votes, waits_s=(0.0, 0.0)).tell("it is polite", "{}")


def test_when_the_suites_time_is_over_nobody_is_asked_and_until_then_no_longer_than_it_lasts() -> None:
    model = ScriptedJudge(verdict("pass"), verdict("pass"))
    judge = Judge(model, votes=1)
    judge.end_in(PATIENCE_S)
    assert judge.tell("it is polite", "{}").outcome is Outcome.PASS
    judge.end_in(0.0)
    told = judge.tell("it is polite", "{}")
    assert (told.outcome, told.votes[0].requests) == (Outcome.UNKNOWN, 0)
    assert told.reason == "no verdict: the suite's time was over before the judge had told"
    (most_s,) = model.most_s
    assert 0 < most_s <= PATIENCE_S


@pytest.mark.parametrize(
    "written",
    [
        '{"reason": "shown", "resu',
        "",
        "[[90]]",
        "pass",
        '"pass"',
        '{"result": "pass"}',
        '{"reason": "shown"}',
        '{"reason": "shown", "result": "pass or fail"}',
        '{"reason": "shown", "result": true}',
        '{"reason": "shown", "result": ["pass"]}',
        '{"reason": "shown", "result": {"pass": 1}}',
        '{"reason": 1, "result": "pass"}',
        '{"result": "pass", "reason": "shown"}',
        '{"reason": "", "result": "pass"}',
        '{"reason": "a", "result": "fail", "result": "pass"}',
        '{"reason": "a", "result": "pass", "result": "pass"}',
        '{"reason": "a", "result": "pass"} {"reason": "a", "result": "fail"}',
        '{"reason": "a", "result": "pass", "confidence": NaN}',
        "[" * 100_000,
    ],
)
def test_an_answer_that_is_not_exactly_a_verdict_is_none(written: str) -> None:
    answer = answer_of(called(written))
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.trouble is not None


def test_a_verdict_beside_text_counts_and_one_that_was_cut_does_not() -> None:
    said = Reply(text="I think FAIL.", calls=verdict("pass").calls)
    assert answer_of(said).outcome is Outcome.PASS
    assert answer_of(called(verdict("pass").calls[0].written, is_cut=True)).outcome is Outcome.UNKNOWN


def test_only_what_may_pass_is_tried_again_and_every_request_counts() -> None:
    busy, denied = ProviderError("busy", may_pass=True), ProviderError("denied")
    told = tell(busy, busy, verdict("pass"))
    assert (told.outcome, told.votes[0].requests) == (Outcome.PASS, 3)
    told = tell(busy, busy, busy)
    assert (told.outcome, told.reason) == (Outcome.UNKNOWN, "no verdict: the judge: busy (3 tries)")
    told = tell(denied)
    assert (told.outcome, told.votes[0].requests) == (Outcome.UNKNOWN, 1)


@pytest.mark.parametrize(
    ("results", "outcome", "asked"),
    [
        (("pass", "pass", "pass"), Outcome.PASS, 3),
        (("fail", "fail", "fail"), Outcome.FAIL, 3),
        (("pass", "fail"), Outcome.UNKNOWN, 2),
        (("pass", "pass", "maybe"), Outcome.UNKNOWN, 3),
        (("maybe",), Outcome.UNKNOWN, 1),
    ],
)
def test_votes_must_be_unanimous_and_end_when_they_cannot_be(
    results: tuple[str, ...], outcome: Outcome, asked: int
) -> None:
    told = tell(*map(verdict, results), votes=3)
    assert (told.outcome, len(told.votes)) == (outcome, asked)


@pytest.mark.parametrize(
    ("others", "told", "outcome", "outcome_class"),
    [
        ((PASSED,), Outcome.PASS, Outcome.PASS, None),
        ((PASSED,), Outcome.FAIL, Outcome.FAIL, None),
        ((PASSED,), Outcome.UNKNOWN, Outcome.UNKNOWN, OutcomeClass.JUDGE),
        ((FAILED,), Outcome.PASS, Outcome.FAIL, None),
        ((FAILED,), Outcome.UNKNOWN, Outcome.FAIL, None),
    ],
)
def test_a_verdict_decides_the_attempt_as_any_check_does(
    others: tuple[Check, ...], told: Outcome, outcome: Outcome, outcome_class: OutcomeClass | None
) -> None:
    record = record_of(*others, waiting("it is polite"))
    judged = with_verdicts(record, {"relevance it is polite": Told(told, "why", ())})
    assert (judged.outcome, judged.outcome_class) == (outcome, outcome_class)
    assert judged.checks[-1].reason == "why"


def test_the_judges_words_are_cut_to_the_capture_level_and_ours_are_not() -> None:
    long = "word " * 40
    judge = Judge(ScriptedJudge(verdict("fail", long), ProviderError(long)), votes=1)
    told = {f"relevance {name}": judge.tell(name, "{}") for name in ("a", "b")}
    kept = capture_attempt(with_verdicts(record_of(waiting("a"), waiting("b")), told), level="metadata")
    assert str(kept.checks[0].reason).startswith("<")
    assert long in str(kept.checks[1].reason)
    assert kept.judge_verdicts is not None
    assert str(kept.judge_verdicts[0].votes[0].reason).startswith("<")
    assert kept.reason == "relevance a: does not hold"


def test_the_transcript_says_who_said_what_and_leaves_out_calls_that_were_not_made() -> None:
    calls = (
        call_of("lookup", {"id": "<a>"}).model_copy(update={"result": "{}"}),
        call_of("pay", {}, how="claimed"),
    )
    line = transcript_of(case_of(input="hi & bye"), record_of(trajectory=calls, texts=("done",)))
    assert "\n" not in line
    assert not set("<>&") & set(line)
    assert json.loads(line) == {
        "user": ["hi & bye"],
        "toolCalls": [{"tool": "lookup", "arguments": {"id": "<a>"}, "status": 200, "result": "{}"}],
        "assistant": ["done"],
    }


@pytest.mark.parametrize("text", ["\ud800", "\u202e\U000e0041", "\u2028x\x85", "\x00\x1b[2J", "`" * 3, "😀"])
def test_nothing_invisible_or_half_gets_through_and_nothing_is_lost(text: str) -> None:
    line = transcript_of(case_of(), record_of(texts=(text,)))
    assert line.encode().decode() == line
    assert all(char.isprintable() for char in line)
    assert json.loads(line)["assistant"] == [text.encode("utf-8", "replace").decode()]


def test_a_transcript_of_any_size_is_cut_with_notes_to_the_stated_size() -> None:
    call = TrajectoryCall(
        tool="t" * 100_000, arguments={"a": "<" * 100_000}, made=True, claimed=True, counts=True, result="r" * 100_000
    )
    line = transcript_of(case_of(), record_of(trajectory=(call,) * 1000, texts=("\u200b" * 100_000,) * 1000))
    assert len(line.encode()) <= settings.TRANSCRIPT_BYTES
    assert "entries left out" in line
    assert "bytes left out" in line
    short = transcript_of(case_of(), record_of(texts=("a" * 8192, "b" * 8193)))
    assert "a" * 8192 in short
    assert "1 bytes left out" in short


def test_the_boundary_depends_on_what_it_encloses_and_the_digest_on_the_prompt_alone() -> None:
    boundary = [question("s", transcript).split("\n")[3] for transcript in ("{}", "{}", '{"a": 1}')]
    assert boundary[0] == boundary[1] != boundary[2]
    assert prompt_digest().startswith("sha256:")


def line_of(*statements: str, **fields: Any) -> RunnerAttempt:
    return RunnerAttempt(record=record_of(*map(waiting, statements), **fields))


def judging(judge: ScriptedJudge, *, ahead: int = 8) -> Judging:
    return Judging(Judge(judge, votes=1, waits_s=()), {"greets": case_of()}, ahead=ahead)


def test_an_attempt_with_nothing_to_judge_does_not_wait_for_those_that_do() -> None:
    release, order = threading.Event(), list[str]()
    at_work = judging(ScriptedJudge(verdict("pass"), until=release))

    def take(line: RunnerAttempt) -> None:
        at_work.take(line, done=lambda got: order.append(got.record.title))

    take(line_of("a", title="judged"))
    take(line_of(title="plain"))
    take(line_of("a", title="limit", outcome=Outcome.FAIL, outcome_class=OutcomeClass.LIMIT))
    assert order == ["plain", "limit"]
    release.set()
    at_work.settle()
    at_work.close()
    assert order == ["plain", "limit", "judged"]


def test_nobody_waits_for_a_slow_judge_and_a_runner_too_far_ahead_is_told_to_hold_until_half_is_judged() -> None:
    release, handed, told = threading.Event(), list[RunnerAttempt](), list[str]()
    at_work = judging(ScriptedJudge(*[verdict("pass")] * 6, until=release), ahead=4)
    at_work.tell = told.append
    paces: list[list[str]] = []

    for _ in range(6):  # two of them were under way when it was told
        at_work.take(line_of("a"), done=handed.append)
        paces.append(list(told))

    assert [len(each) for each in paces] == [0, 0, 0, 1, 1, 1]
    release.set()
    at_work.settle()
    at_work.close()
    assert len(handed) == 6
    assert told == ['{"type":"pace","hold":true}', '{"type":"pace","hold":false}']


def test_an_error_of_the_writer_is_raised_to_the_reader() -> None:
    at_work = judging(ScriptedJudge(verdict("pass")))

    def fails(_: RunnerAttempt) -> None:
        raise OSError("disk full")

    at_work.take(line_of("a"), done=fails)
    with pytest.raises(OSError, match="disk full"):
        at_work.settle()
    with pytest.raises(OSError, match="disk full"):
        at_work.take(line_of("a"), done=lambda _: None)
    at_work.close()


def test_after_the_end_nothing_is_handed_on() -> None:
    release, handed = threading.Event(), list[RunnerAttempt]()
    at_work = judging(ScriptedJudge(ProviderError("closed"), until=release))
    at_work.take(line_of("a"), done=handed.append)
    at_work.stop()
    release.set()
    at_work.close()
    assert handed == []


def test_an_attempt_whose_checks_share_a_name_is_handed_on_too() -> None:
    handed = list[RunnerAttempt]()
    at_work = judging(ScriptedJudge(verdict("pass"), verdict("pass"), verdict("pass")))
    at_work.take(line_of("a", "a", "b"), done=handed.append)
    at_work.settle()
    at_work.close()
    assert [check.outcome for check in handed[0].record.checks] == [Outcome.PASS] * 3
