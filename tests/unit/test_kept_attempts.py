"""What a kill leaves of attempts and journal: where both files end, and what no kill explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.attempt import AttemptRecord
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import Plan
from ledger.kept_attempts import KeptAttempts, NotKeptError, read_kept_attempts
from tests.fakes.written_runs import attempt_of, plan_of, rows_of


def written(root: Path, *records: AttemptRecord, lines: int, attempts_end: str = "", journal_end: str = "") -> Plan:
    """The rows of all records, the lines of the first ones, and what was cut off."""
    (root / "traces").mkdir()
    rows = [row.to_line() + "\n" for record in records for row in rows_of(record)]
    (root / "journal.jsonl").write_text("".join(rows) + journal_end)
    text = "".join(record.to_line() + "\n" for record in records[:lines])
    (root / "traces" / "attempts.jsonl").write_text(text + attempts_end)
    return PLAN


PLAN = plan_of("a", "b", "c", repeats=2)
A, B = attempt_of(PLAN, "a"), attempt_of(PLAN, "b", journal_rows=0)
C = attempt_of(PLAN, "c", journal_rows=3)


def journal_of(*records: AttemptRecord) -> int:
    return sum(len(row.to_line()) + 1 for record in records for row in rows_of(record))


@pytest.mark.parametrize(
    ("lines", "kept", "dropped"), [(0, KeptAttempts(0, (), 0, 5), 5), (1, None, 3), (2, None, 3), (3, None, 0)]
)
def test_rows_without_a_line_are_dropped_wherever_the_kill_came(
    tmp_path: Path, lines: int, kept: KeptAttempts | None, dropped: int
) -> None:
    plan = written(tmp_path, A, B, C, lines=lines, attempts_end='{"schema', journal_end='{"case":"c"')
    found = read_kept_attempts(plan, tmp_path)
    assert kept is None or found == kept
    assert (found.attempts, found.dropped_rows) == (lines, dropped)
    assert found.journal_bytes == journal_of(*(A, B, C)[:lines])


def test_of_each_repeat_the_last_try_counts(tmp_path: Path) -> None:
    died = attempt_of(PLAN, "a", outcome=Outcome.UNKNOWN, outcome_class=OutcomeClass.INFRASTRUCTURE, journal_rows=0)
    again = attempt_of(PLAN, "a", attempt=3, retry_of=1, journal_rows=0)
    second = attempt_of(PLAN, "a", attempt=2, repeat=2, journal_rows=0)
    plan = written(tmp_path, died, second, again, lines=3)
    tries = read_kept_attempts(plan, tmp_path).last_tries
    assert [(one.repeat, one.attempt, one.outcome_class) for one in tries] == [(1, 3, None), (2, 2, None)]


@pytest.mark.parametrize(
    ("records", "lines", "said"),
    [
        ([A, A], 2, "stands above already"),
        ([attempt_of(PLAN, "a", case_digest="sha256:other")], 1, "case digest is not the plan's"),
        ([attempt_of(PLAN, "a", repeat=3)], 1, "repeat 3 of 2 planned"),
        ([A.model_copy(update={"outcome": Outcome.FAIL})], 1, "fail, although its checks make it pass"),
    ],
)
def test_lines_that_the_plan_does_not_allow_are_named(
    tmp_path: Path, records: list[AttemptRecord], lines: int, said: str
) -> None:
    with pytest.raises(NotKeptError, match=said):
        read_kept_attempts(written(tmp_path, *records, lines=lines), tmp_path)


def test_rows_in_another_order_too_few_rows_and_unreadable_lines_are_named(tmp_path: Path) -> None:
    plan = written(tmp_path, A, C, lines=2)
    journal = tmp_path / "journal.jsonl"
    whole = journal.read_text().splitlines(keepends=True)
    for rows, said in (
        (whole[2:] + whole[:2], "line 1: 3 rows of c, attempt 1, where .* has 2 of a"),
        (whole[:2], "ends before the 3 rows of c, attempt 1"),
        (whole[:4], "line 3: 2 rows of c, attempt 1, where .* has 3 of c"),
        (["{}\n"], "journal.jsonl"),
    ):
        journal.write_text("".join(rows))
        with pytest.raises(NotKeptError, match=said):
            read_kept_attempts(plan, tmp_path)
    journal.write_text("".join(whole))
    with (tmp_path / "traces" / "attempts.jsonl").open("a") as stream:
        stream.write("\0\0\0\n")
    with pytest.raises(NotKeptError, match="line 3 is no attempt record"):
        read_kept_attempts(plan, tmp_path)
