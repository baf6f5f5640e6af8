"""A run as a person reads it, sealed or not, and the README that stands in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts import evidence
from contracts.attempt import AgentEnd, Check, CheckType, Usage
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.outcome import Outcome, OutcomeClass
from driver.run_readme import SHARING, run_readme
from driver.show import case_text, manifest_text, note_of, summary_text
from ledger.redaction import Redactor
from ledger.screen_text import Screen
from tests.fakes.written_runs import attempt_of, plan_of, sealed_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A case that failed in several ways, a passing one, and one that was never started."""
    plan = plan_of("refund", "small", "late")
    record = attempt_of(plan, "refund", outcome=Outcome.FAIL)
    made = record.trajectory[0].model_copy(update={"result": '{"id": "synthetic-42"}'})
    lied = made.model_copy(
        update={"tool": "issue_refund", "made": False, "claimed": True, "counts": False, "status": "ok", "result": None}
    )
    check = Check(
        name="approval first", type=CheckType.TOOL_ORDER, outcome=Outcome.FAIL, expected=["ask", "pay"], reason="no ask"
    )
    failed = record.model_copy(
        update={
            "trajectory": (made, lied),
            "tool_calls": 1,
            "checks": (check,),
            "texts": ("Done.\nReally \x1b[2J.",),
            "log": "thinking",
            "outcome_class": OutcomeClass.AGENT_ERROR,
            "reason": "exited with 3",
            "agent_end": AgentEnd(exit_code=3, reason="exit", strays=1),
            "usage": Usage(input_tokens=12, cost_usd=0.5),
        }
    )
    return sealed_run(tmp_path, plan, [failed, attempt_of(plan, "small")])


def test_the_summary_is_the_table_of_the_run(run: Path) -> None:
    text = summary_text(run)
    assert "refund  fail     agent-error, approval first" in text
    assert "3 planned: 1 passed, 1 failed, 1 unknown; pass rate [0.33, 0.67]" in text
    assert text.endswith(f"next: labctl show {run} --case refund")
    assert "UNSEALED" not in text


def test_a_case_is_shown_with_calls_checks_texts_and_its_end(run: Path) -> None:
    assert case_text(run, case_id="refund").splitlines() == [
        "refund: fail (protected)",
        "About refund",
        "",
        "attempt 1, repeat 1: fail (agent-error), 0.12 s",
        "  reason: exited with 3",
        "  agent ended: exit, exit code 3, 1 descendants left behind",
        "calls: 1 count",
        '  1. lookup_order {"order_id": "synthetic-42"} -> 200 (made)',
        '     result: {"id": "synthetic-42"}',
        '  2. issue_refund {"order_id": "synthetic-42"} -> ok (claimed, does not count)',
        "checks:",
        "  tool-order approval first: fail",
        '    expected: ["ask", "pay"]',
        "    reason:   no ask",
        "text: Done.\\nReally \\x1b[2J.",
        "log: thinking",
        "usage: inputTokens 12, costUsd 0.5",
    ]


def test_a_case_that_was_never_started_is_shown_as_that(run: Path) -> None:
    assert case_text(run, case_id="late").splitlines() == [
        "late: unknown",
        "About late",
        "",
        "no attempt of it finished",
    ]


def test_an_unknown_case_is_bad_usage_and_the_known_ones_are_named(run: Path) -> None:
    with pytest.raises(LabError) as caught:
        case_text(run, case_id="refnud")
    assert caught.value.exit_code is Exit.USAGE
    assert "expected: refund, small, late" in str(caught.value)
    with pytest.raises(LabError):
        manifest_text(run, case_id="refnud")


def test_the_manifest_of_a_case_is_flat_and_equals_that_of_environment_json(run: Path) -> None:
    manifest = json.loads(manifest_text(run, case_id="small"))
    assert manifest["caseId"] == "small"
    assert not any(isinstance(value, dict | list) for value in manifest.values())
    whole = json.loads((run / evidence.ENVIRONMENT).read_text())["cases"]["small"]
    assert whole.items() <= manifest.items()


def test_the_manifest_of_a_run_is_flat_with_dotted_keys(run: Path) -> None:
    manifest = json.loads(manifest_text(run, case_id=None))
    assert manifest["conditions.seed"] == 1701
    assert manifest["conditions.limits.seconds"] == 600.0
    assert not any(isinstance(value, dict) and value for value in manifest.values())


@pytest.mark.parametrize("content", ["runner | done\n", "[]", '{"cases": '])
def test_a_manifest_that_is_none_is_evidence_that_was_altered(run: Path, content: str) -> None:
    (run / evidence.ENVIRONMENT).write_text(content)
    with pytest.raises(LabError) as raised:
        manifest_text(run, case_id=None)
    assert (raised.value.code, raised.value.exit_code) == (ErrorCode.ALTERED, Exit.EVIDENCE)
    assert "found: environment.json: is no JSON object" in str(raised.value)


def test_an_unsealed_run_with_a_cut_line_is_shown_and_said_to_be_unsealed(run: Path) -> None:
    (run / evidence.COMPLETE).unlink()
    (run / evidence.ENVIRONMENT).unlink()
    attempts = run / evidence.ATTEMPTS
    attempts.write_bytes(attempts.read_bytes()[:-20])
    note = "UNSEALED: this run was interrupted or made by hand; it is never graded"
    for text in (summary_text(run), case_text(run, case_id="refund")):
        assert text.startswith(note + "\n\n")
    assert "no attempt of it finished" in case_text(run, case_id="small")
    assert note_of(run) == note
    assert json.loads(manifest_text(run, case_id=None))["conditions.seed"] == 1701


def test_an_altered_run_is_shown_and_said_to_be_altered(run: Path) -> None:
    (run / "extra").touch()
    assert summary_text(run).startswith("ALTERED: this run is not what was sealed; next: labctl verify ")


def test_a_run_that_lost_its_attempts_is_shown_as_altered(run: Path) -> None:
    (run / evidence.ATTEMPTS).unlink()
    assert summary_text(run).startswith("ALTERED: this run is not what was sealed")


def test_a_sealed_run_whose_attempts_cannot_be_read_is_altered(run: Path) -> None:
    (run / evidence.ATTEMPTS).write_text("{}\n")
    with pytest.raises(LabError) as caught:
        summary_text(run)
    assert caught.value.code is ErrorCode.ALTERED
    assert "traces/attempts.jsonl: line 1 is no attempt record" in str(caught.value)


def test_a_folder_without_a_readable_plan_is_no_run(run: Path, tmp_path: Path) -> None:
    (run / evidence.PLAN).write_text("{}")
    for path in (run, tmp_path / "nowhere"):
        with pytest.raises(LabError) as caught:
            summary_text(path)
        assert caught.value.code is ErrorCode.NO_RUN


def test_colours_are_for_screens_that_have_them(run: Path) -> None:
    screen = Screen(width=100, is_terminal=True, has_colour=True)
    assert "\x1b[1;31mfail" in summary_text(run, screen=screen)
    assert "\x1b" not in case_text(run, case_id="refund", screen=screen)


def test_the_readme_says_command_revision_invariants_redaction_and_how_to_go_on() -> None:
    plan = plan_of("refund", "small")
    redactor = Redactor({"API_KEY": "value-of-it", "PIN": "123", "host:TOKEN": "of-the-machine"})
    redactor.writing("run.log").redact_text("value-of-it, value-of-it and AKIAIOSFODNN7EXAMPLE")
    text = run_readme(plan, redactor=redactor)
    for part in (
        "`labctl run fixtures`",
        "fixtures-1 (sha256:0000",
        "## What must hold",
        "Protected cases, which no later run may lose: refund.",
        "as `[redacted:NAME]`: API_KEY and 1 of labctl's own environment.",
        "  - `run.log`: API_KEY 2, shape:aws-access-key 1\n",
        "Too short to be taken out, so possibly in these files: PIN.",
        "labctl verify .",
        "sha256sum -c COMPLETE",
        "labctl run suite --agent support --model scripted/support --seed 1701",
    ):
        assert part in text
    assert SHARING not in text
    assert "value-of-it" not in text
    assert text == run_readme(plan, redactor=redactor)


def test_the_readme_of_kept_payloads_asks_for_a_review_before_sharing() -> None:
    text = run_readme(plan_of("a", capture="payloads"), redactor=Redactor({}))
    assert text.splitlines()[2] == SHARING == "SHARING: review before sharing"
    assert "No secret value was known" in text
    assert "Nothing was found to take out." in text
