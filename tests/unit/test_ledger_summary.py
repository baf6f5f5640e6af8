"""The table at the end of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.attempt import Check, CheckType
from contracts.outcome import Outcome, OutcomeClass
from ledger.grading import Grading, grade_run
from ledger.screen_text import PLAIN_SCREEN, Screen
from ledger.summary import summary_text, totals_line
from ledger.totals import Totals
from tests.fakes.written_runs import attempt_of, plan_of


def _grading(tmp_path: Path, *, passing: int, failing: tuple[str, ...] = (), missing: int = 0) -> Grading:
    names = [f"case-{number}" for number in range(passing)]
    plan = plan_of(*names, *failing, *(f"missing-{number}" for number in range(missing)))
    order = Check(
        name="approval first", type=CheckType.TOOL_ORDER, outcome=Outcome.FAIL, expected=["ask", "pay"], actual=["pay"]
    )
    attempts = [attempt_of(plan, name) for name in names]
    attempts += [attempt_of(plan, name, outcome=Outcome.FAIL, checks=(order,)) for name in failing]
    path = tmp_path / "attempts.jsonl"
    path.write_text("".join(attempt.to_line() + "\n" for attempt in attempts))
    return grade_run(plan, path)


def test_a_small_run_lists_every_case_and_explains_those_that_did_not_pass(tmp_path: Path) -> None:
    grading = _grading(tmp_path, passing=1, failing=("refund",), missing=1)
    assert summary_text(grading, run="evidence/run-1", screen=PLAIN_SCREEN) == (
        "CASE       OUTCOME  CHECKS NOT PASSED  MEASURED     CALLS    TIME\n"
        "case-0     pass                        asserts 1/1      2  0.12 s\n"
        "refund     fail     approval first                      2  0.12 s\n"
        "missing-0  unknown  not-run                             0  0.00 s\n"
        "3 planned: 1 passed, 1 failed, 1 unknown; pass rate [0.33, 0.67]\n"
        "measured: assertions 1.00, time of attempts 0.24 s\n"
        "\n"
        "refund: fail\n"
        "  tool-order approval first: fail\n"
        '    expected: ["ask", "pay"]\n'
        '    actual:   ["pay"]\n'
        "\n"
        "missing-0: unknown\n"
        "  not-run: never started\n"
        "\n"
        "next: labctl show evidence/run-1 --case refund\n"
    )


def test_a_run_where_everything_passed_says_what_to_do_next(tmp_path: Path) -> None:
    text = summary_text(_grading(tmp_path, passing=12), run="evidence/my run", screen=PLAIN_SCREEN)
    assert "\n12 planned: 12 passed, 0 failed, 0 unknown; pass rate [1.00, 1.00]\n" in text
    assert text.endswith("\nnext: labctl show 'evidence/my run'\n")


def test_a_large_run_lists_only_what_did_not_pass_and_says_so(tmp_path: Path) -> None:
    text = summary_text(_grading(tmp_path, passing=60, failing=("refund",)), run="r", screen=PLAIN_SCREEN)
    assert "case-0" not in text
    assert "60 cases that passed are not listed\n" in text
    assert "refund  fail" in text


def test_many_failures_are_counted_beyond_what_anybody_reads(tmp_path: Path) -> None:
    failing = tuple(f"bad-{number}" for number in range(250))
    text = summary_text(_grading(tmp_path, passing=0, failing=failing), run="r", screen=PLAIN_SCREEN)
    assert "and 50 more, in results.json\n" in text
    assert text.count("approval first: fail") == 20


@pytest.mark.parametrize("width", [30, 60, 200])
def test_the_table_keeps_to_the_width_of_the_screen(tmp_path: Path, width: int) -> None:
    screen = Screen(width=width, is_terminal=True, has_colour=False)
    grading = _grading(tmp_path, passing=0, failing=("a-case-with-a-rather-long-name-of-its-own",))
    table = summary_text(grading, run="r", screen=screen).partition("1 planned")[0]
    assert max(map(len, table.splitlines())) <= width
    first_column = "".join(line.split("  ")[0].strip() for line in table.splitlines())
    assert first_column.endswith("a-case-with-a-rather-long-name-of-its-own")


def test_one_failure_among_a_thousand_is_never_rounded_away() -> None:
    totals = Totals()
    assert totals_line(totals.summary()).endswith("pass rate [0.00, 0.00]")
    summary = totals.summary().model_copy(update={"planned": 1000, "passed": 999, "failed": 1})
    assert totals_line(summary) == "1000 planned: 999 passed, 1 failed, 0 unknown; pass rate [0.99, 0.99]"


def test_any_language_is_shown_where_the_encoding_has_it_and_nothing_moves_a_cursor(tmp_path: Path) -> None:
    plan = plan_of("grüße")
    hostile = "\x1b[2J\x07 \u202e ü [bold]markup[/bold] :smile:"
    check = Check(name=hostile, type=CheckType.ASSERTION, outcome=Outcome.FAIL, expected=hostile, reason=hostile)
    record = attempt_of(
        plan,
        "grüße",
        outcome=Outcome.FAIL,
        checks=(check,),
        reason=hostile,
        outcome_class=OutcomeClass.AGENT_ERROR,
    )
    path = tmp_path / "attempts.jsonl"
    path.write_text(record.to_line() + "\n")
    plain = summary_text(grade_run(plan, path), run="r", screen=PLAIN_SCREEN)
    assert "labctl show r --case 'grüße'" in plain
    narrow = summary_text(grade_run(plan, path), run="r", screen=replace(PLAIN_SCREEN, is_ascii=True))
    assert narrow.isascii()
    assert "gr\\xfc\\xdfe" in narrow
    coloured = summary_text(grade_run(plan, path), run="r", screen=Screen(width=100, is_terminal=True, has_colour=True))
    assert "grüße" in coloured
    assert "[bold]markup[/bold] :smile:" in coloured
    for text in (plain, coloured):
        assert "\x1b[2J" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
    assert "\x1b[1;31mfail" in coloured
