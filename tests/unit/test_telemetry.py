"""The spans of a run on their way into its evidence: whole lines, no secret, and a loss said to the span."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts import evidence
from contracts.attempt import Check, CheckType
from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome
from contracts.plan import Plan
from contracts.telemetry import SpanCount, Telemetry
from driver import telemetry
from driver.judge_spans import JudgeSpans
from driver.otlp_lines import parse_line, spans_of
from driver.telemetry import SPANS_FILE, keep_spans, spans_folder, tell_losses
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory
from tests.fakes.spans import line_of, span_json
from tests.fakes.written_runs import RUN_ID, attempt_of, plan_of

SECRET = "a-secret-value"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "evidence", run_id=RUN_ID)


def kept(
    run: RunDirectory,
    tmp_path: Path,
    content: bytes | None,
    *,
    said: int | None,
    secret: str = "",
    judged: JudgeSpans | None = None,
) -> Telemetry:
    if content is not None:
        (tmp_path / SPANS_FILE).write_bytes(content)
    count = None if said is None else SpanCount(made=said)
    redactor = Redactor({"TOKEN": secret} if secret else {})
    return keep_spans(run, plan_of("a"), tmp_path, said=count, judged=judged or JudgeSpans(), redactor=redactor)


def told(one: Telemetry) -> list[str]:
    warnings: list[str] = []
    tell_losses(one, warn=warnings.append)
    return warnings


def written(run: RunDirectory) -> bytes:
    return (run.path / evidence.OTLP).read_bytes()


def test_all_spans_that_were_made_are_written_byte_for_byte(run: RunDirectory, tmp_path: Path) -> None:
    content = line_of(span_json(1), span_json(2)) + line_of(span_json(3))
    found = kept(run, tmp_path, content, said=3)
    assert (found.spans_made, found.spans_written, found.spans_lost, found.troubles) == (3, 3, 0, ())
    assert written(run) == content
    assert told(found) == []


def test_a_cut_line_is_left_out_and_the_loss_is_said_to_the_span(run: RunDirectory, tmp_path: Path) -> None:
    whole, cut = line_of(span_json(1), span_json(2)), line_of(span_json(3))[:-20]
    found = kept(run, tmp_path, whole + cut, said=5)
    assert (found.spans_written, found.spans_lost, found.dropped_lines) == (2, 3, 1)
    assert written(run) == whole
    (warning,) = told(found)
    assert warning.startswith("3 of 5 spans were lost: lines of the sink's file that were cut")


def test_a_batch_that_was_written_twice_counts_once(run: RunDirectory, tmp_path: Path) -> None:
    found = kept(run, tmp_path, line_of(span_json(1)) * 2, said=2)
    assert (found.spans_written, found.spans_lost) == (1, 1)


def test_lines_that_are_no_spans_are_left_out(run: RunDirectory, tmp_path: Path) -> None:
    odd = b'nonsense\n[]\n{"resourceSpans": [3]}\n{"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]}\n\xff\n'
    found = kept(run, tmp_path, odd + line_of(span_json(1)), said=1)
    assert (found.spans_written, found.spans_lost, found.dropped_lines) == (1, 0, 5)


def test_spans_of_what_a_judge_decided_stand_beside_the_runners(run: RunDirectory, tmp_path: Path) -> None:
    plan = plan_of("a")
    check = Check(name="is polite", type=CheckType.RELEVANCE, outcome=Outcome.FAIL, reason="planted words")
    record = attempt_of(plan, "a").model_copy(update={"checks": (check, *attempt_of(plan, "a").checks)})
    judged = JudgeSpans()
    judged.add(RunnerAttempt(record=record), began_at_ns=1, ended_at_ns=2)  # its attempt has no span
    parent = f"00-{1:032x}-{7:016x}-01"
    judged.add(RunnerAttempt(record=record, traceparent=parent), began_at_ns=1, ended_at_ns=2)

    found = kept(run, tmp_path, line_of(span_json(7)), said=1, judged=judged)

    assert (found.spans_made, found.spans_written, found.spans_lost) == (2, 2, 0)
    _, line = written(run).splitlines()
    (span,) = spans_of(parse_line(line))
    assert (span.name, span.parent_id, span.is_error) == ("check is polite", f"{7:016x}", True)
    assert b"planted words" not in line


def test_a_sink_that_wrote_nothing_lost_everything(run: RunDirectory, tmp_path: Path) -> None:
    found = kept(run, tmp_path, None, said=4)
    trouble = "the sink's file cannot be read: there is none"
    assert (found.spans_written, found.spans_lost, found.troubles) == (0, 4, (trouble,))
    assert written(run) == b""


def test_a_link_in_the_place_of_the_file_is_not_followed(run: RunDirectory, tmp_path: Path) -> None:
    (tmp_path / SPANS_FILE).symlink_to("/dev/zero")
    assert kept(run, tmp_path, None, said=1).spans_lost == 1


def test_a_runner_that_died_leaves_a_trace_that_may_be_incomplete(run: RunDirectory, tmp_path: Path) -> None:
    found = kept(run, tmp_path, line_of(span_json(1)), said=None)
    assert (found.spans_made, found.spans_written, found.spans_lost) == (None, 1, None)
    (warning,) = told(found)
    assert "may be incomplete (1 spans written)" in warning


def test_no_secret_value_is_copied_in_any_spelling(run: RunDirectory, tmp_path: Path) -> None:
    spans = [span_json(1, said=f"bearer {SECRET}"), span_json(2, args=json.dumps({"k": SECRET + '"'}))]
    found = kept(run, tmp_path, line_of(*spans), said=2, secret=SECRET)
    assert found.spans_written == 2
    assert SECRET.encode() not in written(run)
    assert b"[redacted:TOKEN]" in written(run)


def test_the_file_is_bounded(run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = line_of(span_json(1))
    monkeypatch.setattr(telemetry, "MAX_BYTES", len(line) + 1)
    found = kept(run, tmp_path, line + line_of(span_json(2)), said=2)
    assert (found.spans_written, found.spans_lost, found.dropped_lines) == (1, 1, 1)


def test_without_the_profile_there_is_no_folder_for_spans() -> None:
    with spans_folder(plan_of("a")) as folder:
        assert folder is None
    with spans_folder(observed(plan_of("a"))) as folder:
        assert folder is not None
        assert folder.is_dir()
    assert not folder.exists()


def observed(plan: Plan) -> Plan:
    return plan.model_copy(update={"conditions": plan.conditions.model_copy(update={"profiles": ("observe",)})})
