"""What reads a run quickly finds what records of it would say, byte by byte, and refuses what they would refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts import evidence
from contracts.attempt import AttemptRecord, Check, CheckType, Usage
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import Plan, PlannedCase
from contracts.results import AttemptResult
from driver.run_reading import read_run
from ledger import quick_pieces
from ledger.case_results import case_result
from ledger.grading import grade_run
from ledger.journal_rows import read_journal
from ledger.manifest_file import cases_follow, read_manifest
from ledger.plan_file import PlannedRow, read_plan
from ledger.quick_pieces import is_quick, quick_result, quick_testcase, whole_pieces
from ledger.rows_reading import DoesNotFollowError, read_rows
from tests.fakes.written_runs import attempt_of, plan_of, write_run

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
value = st.one_of(st.none(), text, st.booleans(), st.integers(-(10**6), 10**6), st.lists(text, max_size=2))
check = st.builds(
    Check,
    name=text,
    type=st.sampled_from(CheckType),
    outcome=st.sampled_from(Outcome),
    score=st.none() | st.floats(0, 1),
    expected=value,
    actual=value,
    reason=st.none() | text,
)
usage = st.builds(Usage, input_tokens=st.none() | st.integers(0, 99), cost_usd=st.none() | st.floats(0, 9))
passing = st.fixed_dictionaries(
    {
        "checks": st.lists(check, max_size=3).map(tuple),
        "usage": usage,
        "duration_ms": st.integers(0, 10**7),
        "tool_calls": st.integers(0, 9),
        "attempt": st.integers(1, 3),
    }
)


@settings(max_examples=300, deadline=None)
@given(title=text, fields=passing, protected=st.booleans())
def test_the_quick_pieces_are_those_of_the_records(title: str, fields: dict[str, Any], *, protected: bool) -> None:
    plan = plan_of("a-case")
    case = replace(plan.cases[0], title=title, protected=protected)
    plan = plan.model_copy(update={"cases": (case,)})
    record = attempt_of(plan, "a-case", **fields)
    row = PlannedRow(case.case_id, title, protected, case.case_digest, 1)
    assert is_quick(record)
    assert (quick_result(row, record), quick_testcase(row, record)) == whole_pieces(case_result(case, [record]))


def test_the_quick_pieces_know_every_key_of_an_attempts_result() -> None:
    """A key that was added to results.json is either written by `quick_result`, or sends its attempts the slow way."""
    by_hand = quick_pieces._WRITTEN_HERE
    assert by_hand <= AttemptResult.model_fields.keys()
    assert set(quick_pieces._WRITTEN_ELSEWHERE) == AttemptResult.model_fields.keys() - by_hand


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": Outcome.FAIL},
        {"outcome": Outcome.UNKNOWN, "outcome_class": OutcomeClass.PROVIDER},
        {"reason": "because"},
        {"retry_of": 1},
    ],
)
def test_an_attempt_that_did_not_simply_pass_is_not_quick(fields: dict[str, Any]) -> None:
    assert not is_quick(attempt_of(plan_of("a"), "a", **fields))


def _run(folder: Path, plan: Plan, *records: AttemptRecord) -> Path:
    run = write_run(folder, plan, records)
    run.close()
    return run.path


def _mixed(folder: Path) -> Path:
    plan = plan_of("p", "a", "ä b", "c", "d", repeats=1)
    return _run(
        folder,
        plan,
        attempt_of(plan, "c", outcome=Outcome.FAIL, usage=Usage(cost_usd=0.25)),
        attempt_of(plan, "p", usage=Usage(cost_usd=0.5, input_tokens=3)),
        attempt_of(plan, "ä b", checks=(Check(name="f1", type=CheckType.TOOL_CALLS, outcome=Outcome.PASS, score=0.5),)),
        attempt_of(plan, "a", outcome=Outcome.UNKNOWN, outcome_class=OutcomeClass.INFRASTRUCTURE),
        attempt_of(plan, "a", attempt=2, retry_of=1),
    )


def test_a_run_of_every_kind_of_case_is_read_as_its_records_say(tmp_path: Path) -> None:
    path = _mixed(tmp_path)
    read = read_run(path)
    assert read is not None
    assert read.follows
    plan = Plan.model_validate_json((path / evidence.PLAN).read_bytes())
    graded = grade_run(plan, path / evidence.ATTEMPTS)
    assert (read.rows.totals.summary(), read.rows.totals.metrics()) == (graded.summary, graded.metrics)
    assert [read.rows.outcome(place).value for place in range(5)] == ["pass", "pass", "pass", "fail", "unknown"]
    assert [[place.attempt_line for place in read.rows.places(case)] for case in range(5)] == [
        [2],
        [4, 5],
        [3],
        [1],
        [],
    ]
    assert [place.journal_line for place in read.rows.places(1)] == [7, 9]


def test_repeats_are_read_as_their_records_say(tmp_path: Path) -> None:
    plan = plan_of("p", "a", repeats=2)
    outcomes = (Outcome.PASS, Outcome.FAIL)
    records = [
        attempt_of(plan, name, attempt=number, repeat=number, outcome=outcome)
        for name in ("p", "a")
        for number, outcome in enumerate(outcomes, start=1)
    ]
    read = read_run(_run(tmp_path, plan, *records))
    assert read is not None
    assert read.follows
    assert read.rows.means is not None
    assert (read.rows.means.flaky, read.rows.passed_share) == (2, {0: 0.5, 1: 0.5})


def test_a_passed_case_with_another_attempt_is_read_once_more_and_whole(tmp_path: Path) -> None:
    plan = plan_of("p")
    read = read_run(_run(tmp_path, plan, attempt_of(plan, "p"), attempt_of(plan, "p", attempt=2)))
    assert read is not None
    assert read.follows
    assert len(read.rows.places(0)) == 2


def _edit(path: Path, old: str, new: str, count: int = 1) -> None:
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, count))


CONTRADICTIONS: dict[str, Callable[[Path], object]] = {
    "a cut line": lambda run: (run / evidence.ATTEMPTS).write_bytes((run / evidence.ATTEMPTS).read_bytes()[:-1]),
    "an unknown key": lambda run: _edit(run / evidence.ATTEMPTS, '"attempt":1', '"note":1,"attempt":1'),
    "a stranger": lambda run: _edit(run / evidence.ATTEMPTS, '"caseId":"p"', '"caseId":"q"'),
    "another title": lambda run: _edit(run / evidence.ATTEMPTS, "About p", "About q"),
    "another digest": lambda run: _edit(run / evidence.ATTEMPTS, '"caseDigest":"sha256:0', '"caseDigest":"sha256:1'),
    "a repeat too many": lambda run: _edit(run / evidence.ATTEMPTS, '"repeat":1', '"repeat":2'),
    "a pass with a failed check": lambda run: _edit(
        run / evidence.ATTEMPTS, '"type":"assertion","outcome":"pass"', '"type":"assertion","outcome":"fail"'
    ),
    "a row too few": lambda run: (run / evidence.JOURNAL).write_text(
        "".join((run / evidence.JOURNAL).read_text().splitlines(keepends=True)[:-1])
    ),
    "a row apart": lambda run: _edit(run / evidence.JOURNAL, '"sequence":2', '"sequence":1'),
    "a row of a stranger": lambda run: _edit(run / evidence.JOURNAL, '{"case":"p"', '{"case":"q"'),
    "a row of another attempt": lambda run: _edit(run / evidence.JOURNAL, '"attempt":1', '"attempt":7'),
    "an empty journal": lambda run: (run / evidence.JOURNAL).write_text(""),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_found_at_first_sight(tmp_path: Path, name: str) -> None:
    path = _mixed(tmp_path)
    CONTRADICTIONS[name](path)
    with pytest.raises(DoesNotFollowError):
        read_rows(read_plan(path / evidence.PLAN), path)
    assert read_run(path) is None


@pytest.mark.parametrize("name", [evidence.RESULTS, evidence.JUNIT, evidence.ENVIRONMENT])
@pytest.mark.parametrize("change", ["last byte", "a byte more", "a case less", "another value"])
def test_a_derived_file_that_is_not_what_it_must_be_does_not_follow(tmp_path: Path, name: str, change: str) -> None:
    path = _mixed(tmp_path)
    content = (path / name).read_bytes()
    at = len(content) * 9 // 10  # of the manifest among its cases: nothing says what a host must be
    changed = {
        "last byte": content[:-1],
        "a byte more": content + b"\n",
        "a case less": content.replace(b'"c"', b'"e"'),
        "another value": content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :],
    }[change]
    (path / name).write_bytes(changed)
    read = read_run(path)
    assert read is None or not read.follows


def test_a_plan_is_read_in_batches_as_it_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(*(f"case-{number} ü" for number in range(50)))
    path = _run(tmp_path, plan)
    monkeypatch.setattr("ledger.plan_file._BATCH_BYTES", 700)
    read = read_plan(path / evidence.PLAN)
    assert [PlannedCase(**row._asdict()) for row in read.cases] == list(plan.cases)
    assert read.head == plan.model_copy(update={"cases": ()})
    compact = path / "compact.json"
    compact.write_text(json.dumps(plan.to_json()))
    assert read_plan(compact) == read
    with pytest.raises(ValidationError):
        _edit(path / evidence.PLAN, '"protected": true', '"protected": 1')
        read_plan(path / evidence.PLAN)


def test_cases_that_are_no_objects_are_refused(tmp_path: Path) -> None:
    path = _run(tmp_path, plan_of("p")) / evidence.PLAN
    head, _, _ = path.read_text().partition('"cases": [')
    for cases in ("1", '"p"', "[]", "nonsense", '{"caseId": "p"}'):
        path.write_text(f'{head}"cases": [\n    {cases}\n  ]\n}}\n')
        with pytest.raises(ValidationError):
            read_plan(path)


def test_a_manifest_whose_cases_are_not_the_plans_does_not_follow(tmp_path: Path) -> None:
    plan = plan_of(*(f"case-{number}" for number in range(5)))
    path = _run(tmp_path, plan)
    manifest, cases = read_manifest(path / evidence.ENVIRONMENT), read_plan(path / evidence.PLAN).cases
    assert manifest.head.cases == {}
    assert cases_follow(manifest, cases)
    assert not cases_follow(manifest, cases[:-1])
    assert not cases_follow(manifest, [*cases[:-1], cases[-1]._replace(case_digest="sha256:1")])


def test_rows_of_any_text_are_read_and_a_cut_one_is_refused(tmp_path: Path) -> None:
    from tests.fakes.written_runs import rows_of  # noqa: PLC0415 - beside its use

    plan = plan_of('ü "quoted" \\ case')
    record = attempt_of(plan, plan.cases[0].case_id)
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(row.to_line() + "\n" for row in rows_of(record)))
    [block] = read_journal(path)
    assert (block.case_id, block.attempt, block.rows, block.offset, block.line) == (record.case_id, 1, 2, 0, 1)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="cut"):
        list(read_journal(path))
