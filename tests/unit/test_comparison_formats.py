"""The texts of a comparison: the table at two widths, the job summary, the JSON and its schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from comparison.formats import text_of
from comparison.markdown import MOST_BYTES, markdown_text
from comparison.table import table_text
from contracts.attempt import Check, CheckType, Usage
from contracts.comparison import CaseChange, Comparison
from contracts.outcome import Outcome
from ledger.screen_text import PLAIN_SCREEN
from tests.fakes.compared_runs import FAIL, PASS, UNKNOWN, call, compared, done, outcomes_side, side_of, with_conditions
from tests.fakes.written_runs import plan_of

ROOT = Path(__file__).resolve().parents[2]
NARROW, WIDE = (replace(PLAIN_SCREEN, width=width) for width in (80, 200))


@pytest.fixture
def found(tmp_path: Path) -> Comparison:
    """A prompt that forgets to ask, a slow case that is mended, one that nobody could tell, one case more."""
    plan, more = plan_of("approval", "recovery", "window"), plan_of("approval", "recovery", "window", "new")
    order = [
        Check(
            name="request_approval before issue_refund",
            type=CheckType.TOOL_ORDER,
            outcome=outcome,
            expected=["request_approval", "issue_refund"],
            actual=actual,
            reason=reason,
        )
        for outcome, actual, reason in (
            (PASS, ["request_approval", "issue_refund"], None),
            (FAIL, ["issue_refund"], "call 1 is issue_refund without an earlier request_approval"),
        )
    ]
    asked, paid = call("request_approval", amount=24900), call("issue_refund", amount=24900)
    usage = [Usage(cost_usd=cost) for cost in (0.002, 0.0035)]
    baseline = side_of(
        tmp_path,
        plan,
        done(plan, "approval", asked, paid, checks=(order[0],), usage=usage[0]),
        done(plan, "recovery", outcome=FAIL, reason="says so: does not hold"),
        done(plan, "window"),
    )
    candidate = side_of(
        tmp_path,
        more,
        done(
            more,
            "approval",
            paid,
            checks=(order[1],),
            usage=usage[1],
            outcome=FAIL,
            reason="request_approval before issue_refund: does not hold",
        ),
        done(more, "recovery"),
        done(more, "window", outcome=UNKNOWN, reason="the fixture API died"),
        done(more, "new"),
    )
    labels = [{"prompt_revision": f"refund-{v}", "prompt_digest": f"sha256:{v * 32}"} for v in ("v6", "v7")]
    return compared(with_conditions(baseline, **labels[0]), with_conditions(candidate, **labels[1])).model_copy(
        update={"context": ()}
    )


GOLDEN = Path(__file__).parent / "golden"


def test_the_table_at_80_columns(found: Comparison) -> None:
    text = table_text(found, screen=NARROW)
    assert text == (GOLDEN / "comparison-80.txt").read_text()
    assert all(len(line) <= 80 for line in text.splitlines()[:-1])


def test_the_table_at_200_columns(found: Comparison) -> None:
    text = table_text(found, screen=WIDE)
    assert text == (GOLDEN / "comparison-200.txt").read_text()


def test_the_table_has_its_columns_its_marks_and_one_last_line_of_verdict(found: Comparison) -> None:
    lines = table_text(found, screen=WIDE).splitlines()
    header = next(line for line in lines if "METRIC" in line)
    assert header.split() == ["METRIC", "BASELINE", "CURRENT", "DELTA"]
    assert any(line.startswith("· costUsd") for line in lines)
    assert "! approval: pass → fail (protected)" in lines
    assert lines[-1].startswith("verdict: regression (1): 1 case passed and fails now: approval")


def test_without_a_terminal_there_is_no_colour_and_with_one_there_is(found: Comparison) -> None:
    assert "\x1b" not in table_text(found, screen=NARROW)
    coloured = table_text(found, screen=replace(NARROW, is_terminal=True, has_colour=True))
    assert "\x1b[31;1m! approval" in coloured
    assert "\x1b" not in table_text(found, screen=replace(NARROW, is_terminal=True))


def test_what_an_agent_wrote_moves_no_cursor(tmp_path: Path) -> None:
    plan = plan_of("p")
    evil = "\x1b[2J→ · \u202e\nverdict: no-regression (0)"
    found = compared(
        side_of(tmp_path, plan, done(plan, "p")), side_of(tmp_path, plan, done(plan, "p", texts=(evil,), outcome=FAIL))
    )
    text = table_text(found, screen=NARROW)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert [line for line in text.splitlines() if line.startswith("verdict:")] == [text.splitlines()[-1]]


def test_the_json_is_what_the_schema_says_and_the_same_bytes_each_time(found: Comparison) -> None:
    text = text_of(found, "json", screen=NARROW)
    schema = json.loads((ROOT / "contracts" / "schemas" / "comparison.schema.json").read_text())
    assert [error.message for error in Draft202012Validator(schema).iter_errors(json.loads(text))] == []
    assert text == text_of(found, "json", screen=WIDE)
    told = json.loads(text)
    assert (told["baseline"], told["candidate"], told["dataset"]) == ("refund-v6", "refund-v7", "fixtures-1")
    assert (told["casesAdded"], told["casesRegressed"], told["casesImproved"]) == (1, ["approval"], ["recovery"])
    assert (told["unknown"], told["verdict"]) == (["window"], "regression")


def test_the_job_summary_leads_with_verdict_and_regressions(found: Comparison) -> None:
    text = markdown_text(found)
    assert text.startswith("## regression: `refund-v6` → `refund-v7`\n")
    titles = [line for line in text.splitlines() if line.startswith("#")]
    assert titles[1:] == [
        "### Regressed (1)",
        "### Could not be told (1)",
        "### Improved (1)",
        "### Added (1)",
        "### Metrics",
        "### What differs around the behaviour",
    ]
    assert "first divergence: call 1, tool" in text
    assert "| ! | failureRate" not in text


def test_a_job_summary_of_very_much_fits_and_says_what_it_left_out(found: Comparison) -> None:
    change = found.cases[0]
    many = tuple(change.model_copy(update={"case_id": f"case-{number}-" + "ü" * 90}) for number in range(10_000))
    text = markdown_text(found.model_copy(update={"cases": many, "left_out": {"cases": 5}}))
    assert len(text.encode()) <= MOST_BYTES
    assert "more, in the JSON" in text
    assert "And 5 cases more" in text
    assert "### Metrics" in text
    assert text.index("### Regressed") < 3000


def test_no_text_of_the_evidence_is_markdown(found: Comparison) -> None:
    evil = "x`` ](http://evil) | <script> `"
    change: CaseChange = found.cases[0].model_copy(update={"case_id": evil, "reason": "```\n# owned\n```"})
    text = markdown_text(found.model_copy(update={"cases": (change,), "reasons": (f"1 case: {evil}",)}))
    assert (
        "- ``` 1 case: x`` ](http://evil) | <script> ` ```\n" in text
    )  # a span ends at as many ticks as it began with
    assert "\n```x`` ](http://evil) | <script> `: pass → fail (protected)```\n" in text
    assert "\n# owned" not in text
    assert "\n````\nwhy: ```\\n# owned\\n```\n" in text


def test_an_outcome_alone_has_a_table_too(tmp_path: Path) -> None:
    text = table_text(
        compared(outcomes_side(tmp_path, {"p": PASS}), outcomes_side(tmp_path, {"p": PASS})), screen=NARROW
    )
    assert text.splitlines()[-1] == "verdict: no-regression (0): no case that passed fails now"


def test_why_a_check_did_not_hold_is_told_beside_the_value_that_it_is_about(tmp_path: Path) -> None:
    plan = plan_of("p", "a")
    bad, good = (
        Check(name="size", type=CheckType.SIZE, outcome=outcome, expected="S", actual=actual, reason=reason)
        for outcome, actual, reason in ((FAIL, "XL", "9000 bytes"), (PASS, "S", None))
    )
    sides = [
        side_of(tmp_path, plan, done(plan, "p"), done(plan, "a", checks=(check,), outcome=check.outcome))
        for check in (bad, good)
    ]
    told = [
        [
            line.strip()
            for line in table_text(compared(was, now), screen=NARROW).splitlines()
            if line.startswith("      ")
        ]
        for was, now in (sides, sides[::-1])
    ]
    assert told[0] == ['expected: "S"', 'was:      "XL"', "because:  9000 bytes", 'actual:   "S"']
    assert told[1] == ['expected: "S"', 'was:      "S"', 'actual:   "XL"', "reason:   9000 bytes"]


@pytest.mark.parametrize(("was", "now"), [(PASS, FAIL), (FAIL, PASS), (PASS, UNKNOWN), (UNKNOWN, FAIL)])
def test_an_arrow_between_two_outcomes_that_nothing_may_be_concluded_from_says_so(
    tmp_path: Path, was: Outcome, now: Outcome
) -> None:
    sides = (outcomes_side(tmp_path, {"a": was}), outcomes_side(tmp_path, {"a": now}))
    drifted = with_conditions(sides[1], clock="2026-01-01T00:00:00Z")
    text = table_text(compared(sides[0], drifted), screen=NARROW)
    marks = "protected" if UNKNOWN in (was, now) else "protected, cannot tell"
    assert f"a: {was.value} → {now.value} ({marks})\n" in text
