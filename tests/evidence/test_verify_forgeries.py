"""A run that was edited and sealed again: what it says must still follow from its plan and its attempts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import evidence
from contracts.attempt import CheckType
from contracts.outcome import Outcome
from driver.verify import verify_run
from tests.fakes.refused_runs import altered, diverges, refused
from tests.fakes.written_runs import attempt_of, plan_of, rows_of, seal_again, sealed_run


def _edit_json(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def test_a_results_file_edited_and_sealed_again_does_not_follow_from_the_attempts(run: Path) -> None:
    def pass_all(results: Any) -> None:
        results["summary"] |= {"passed": 2, "failed": 0, "passRate": [1.0, 1.0]}
        results["cases"][1]["outcome"] = "pass"

    _edit_json(run / evidence.RESULTS, pass_all)
    error = diverges(run)
    assert "found: results.json line 6: does not follow from plan.json and traces/attempts.jsonl" in error
    assert "junit.xml" not in error


@pytest.mark.parametrize("name", [evidence.RESULTS, evidence.JUNIT])
@pytest.mark.parametrize("change", ["appended", "cut", "blank"])
def test_a_derived_file_with_other_bytes_is_found_though_it_may_mean_the_same(
    run: Path, name: str, change: str
) -> None:
    content = (run / name).read_bytes()
    changed = {
        "appended": content + b"\n",
        "cut": content[:-1],
        "blank": content.replace(b">", b" >").replace(b":", b" :"),
    }
    (run / name).write_bytes(changed[change])
    assert f"found: {name} line" in diverges(run)


def _edit_attempt(run: Path, number: int, **fields: Any) -> None:
    path = run / evidence.ATTEMPTS
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[number].update(fields)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


ATTEMPT_FORGERIES: dict[str, tuple[dict[str, Any], str]] = {
    "outcome": ({"outcome": "pass"}, "pass, although its checks make it fail"),
    "outcome and class": (
        {"outcome": "unknown", "class": "limit"},
        "unknown/limit, although that class is always fail",
    ),
    "outcome without checks": ({"outcome": "pass", "checks": []}, "pass, although its checks make it unknown"),
    "outcome and checks": (
        {"outcome": "pass", "reason": None, "checks": [{"name": "a", "type": "size", "outcome": "pass"}]},
        "results.json",
    ),
    "not planned": ({"caseId": "stranger"}, "stranger, attempt 1: a case that is not planned"),
    "case digest": ({"caseDigest": "sha256:" + "1" * 64}, "the case digest is not the plan's"),
    "title": ({"title": "Another"}, "title or protection are not the plan's"),
    "protected": ({"protected": True}, "title or protection are not the plan's"),
    "repeat": ({"repeat": 2}, "repeat 2 of 1 planned"),
    "attempt": ({"attempt": 0}, "attempt 0: repeat 1 of 1 planned"),
    "retry": ({"retryOf": 7}, "a retry of attempt 7, which is no earlier attempt"),
    "journal count": ({"journalRows": 1}, "2 rows, its line says 1"),
    "duration": ({"durationMs": 1}, "results.json"),
    "unknown key": ({"note": 1}, "line 2 is no attempt record: note"),
}


@pytest.mark.parametrize("forgery", ATTEMPT_FORGERIES)
def test_an_attempt_edited_and_sealed_again_is_found(run: Path, forgery: str) -> None:
    fields, found = ATTEMPT_FORGERIES[forgery]
    _edit_attempt(run, 1, **fields)
    assert found in diverges(run)


def test_an_outcome_made_worse_than_the_checks_and_sealed_again_is_found(run: Path) -> None:
    _edit_attempt(run, 0, outcome="fail", reason="it did not")
    assert "approval, attempt 1: fail, although its checks make it pass" in diverges(run)


def test_an_attempt_left_out_is_found_by_its_journal_rows_and_the_results(run: Path) -> None:
    path = run / evidence.ATTEMPTS
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert "found: journal.jsonl line 3: recovery, attempt 1: a row of no attempt" in diverges(run)


def test_an_attempt_that_stands_twice_is_found(run: Path) -> None:
    path = run / evidence.ATTEMPTS
    path.write_text(path.read_text() + path.read_text().splitlines(keepends=True)[0])
    assert "line 3: approval, attempt 1: an attempt that stands above already" in diverges(run)


def _journal_forgeries() -> dict[str, tuple[Callable[[list[str]], list[str]], str]]:
    stranger = rows_of(attempt_of(plan_of("stranger"), "stranger"))[0].to_line()
    return {
        "row removed": (lambda rows: rows[:-1], "recovery, attempt 1: 1 rows, its line says 2"),
        "row twice": (lambda rows: [*rows, rows[-1]], "sequence 2 where 3 follows"),
        "rows of a stranger": (lambda rows: [*rows, stranger], "stranger, attempt 1: a row of no attempt"),
        "rows swapped": (lambda rows: [rows[1], rows[0], *rows[2:]], "line 1: approval, attempt 1: sequence 2 where 1"),
        "rows apart": (lambda rows: [rows[0], rows[2], rows[1], rows[3]], "a row apart from the attempt's others"),
        "no rows": (lambda _: [], "approval, attempt 1: 0 rows, its line says 2"),
        "no record": (lambda rows: [*rows, "{}"], "journal.jsonl line 5: is cut or no journal row"),
    }


@pytest.mark.parametrize("forgery", _journal_forgeries())
def test_a_journal_edited_and_sealed_again_is_found(run: Path, forgery: str) -> None:
    change, found = _journal_forgeries()[forgery]
    path = run / evidence.JOURNAL
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    assert found in diverges(run)


@pytest.mark.parametrize("name", [evidence.JOURNAL, evidence.ATTEMPTS])
def test_a_line_without_its_end_is_cut_also_under_a_right_seal(run: Path, name: str) -> None:
    (run / name).write_bytes((run / name).read_bytes()[:-1])
    assert "is cut" in diverges(run)


def test_a_manifest_of_other_conditions_than_the_plan_is_found(run: Path) -> None:
    def change(manifest: Any) -> None:
        manifest["conditions"]["seed"] = 1
        manifest["runId"] = "run-other"
        manifest["cases"]["approval"]["caseDigest"] = "sha256:" + "1" * 64

    _edit_json(run / evidence.ENVIRONMENT, change)
    error = diverges(run)
    for place in ("runId", "conditions", "cases"):
        assert f"found: environment.json {place}: is not what plan.json says" in error
    (run / evidence.ENVIRONMENT).write_text("{}")
    assert "environment.json: is no manifest" in diverges(run)


def test_a_plan_edited_and_sealed_again_no_longer_leads_to_the_results(run: Path) -> None:
    _edit_json(run / evidence.PLAN, lambda plan: plan["cases"].pop())
    assert "recovery, attempt 1: a case that is not planned" in diverges(run)
    (run / evidence.PLAN).write_text("[]")
    seal_again(run)
    assert "plan.json" in altered(run)


@pytest.mark.parametrize(
    "name", ["run.log", "suite/cases.json", "suite/prompts/v6.md", evidence.JOURNAL, evidence.ATTEMPTS, evidence.PLAN]
)
def test_what_was_recorded_is_named_by_its_digest_in_the_manifest(run: Path, name: str) -> None:
    (run / name).write_bytes((run / name).read_bytes().replace(b"e", b"a", 1) + b"\n")
    seal_again(run)
    assert name in {found.file for found in refused(run).found}


def test_what_was_added_or_left_out_is_named(run: Path) -> None:
    (run / "suite" / "cases.json").rename(run / "suite" / "other.json")
    (run / "notes.txt").write_text("all is well\n")
    found = diverges(run)
    assert "found: suite/cases.json: is missing; environment.json says that it was recorded" in found
    assert "found: suite/other.json: was not recorded: environment.json does not name it" in found
    assert "found: notes.txt: is no file of a run" in found


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda manifest: manifest["cases"]["approval"].update(seed=1), "environment.json cases"),
        (lambda manifest: manifest.update(startedAt="2026-09-01T13:00:00.000Z"), "environment.json startedAt"),
        (lambda manifest: manifest.update(sharing="as you like"), "environment.json sharing"),
        (lambda manifest: manifest["dependencies"].update(programs={}), "environment.json: is spelled otherwise"),
        (lambda manifest: manifest["host"].update(cpus=64), "environment.json: is not the file whose digest README.md"),
        (lambda manifest: manifest.pop("recorded"), "environment.json recorded: has no digest"),
    ],
)
def test_a_manifest_edited_and_sealed_again_is_found(run: Path, change: Callable[[Any], None], place: str) -> None:
    _edit_json(run / evidence.ENVIRONMENT, change)
    if "spelled" in place:  # the same values between other blanks
        path = run / evidence.ENVIRONMENT
        path.write_bytes(path.read_bytes().replace(b'": ', b'" : '))
    assert f"found: {place}" in diverges(run)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- command: `labctl", "- command: `other"),
        ("- cases: 2, 2 repeats", "- cases: 3, 3 repeats"),
        ("Protected cases, which no later run may lose: approval", "Protected cases: none"),
        ("- `environment.json` has the digest", "- its manifest has the digest"),
        ("## How to verify", "## All is well\n\nBelieve it.\n\n## How to verify"),
        ("--evidence ../\n", "--evidence ../"),
        ("--evidence ../\n", "--evidence ../\n\nand more\n"),
    ],
)
def test_a_readme_edited_and_sealed_again_does_not_follow_from_the_plan(run: Path, old: str, new: str) -> None:
    text = (run / evidence.README).read_text()
    assert old in text
    (run / evidence.README).write_text(text.replace(old, new))
    assert "found: README.md" in diverges(run)


def test_what_was_taken_out_stands_in_no_plan_so_only_a_signature_protects_it(run: Path) -> None:
    text = (run / evidence.README).read_text()
    (run / evidence.README).write_text(text.replace("- No secret value was known", "- None was known"))
    seal_again(run)
    assert verify_run(run).cases == 2


def test_a_run_of_another_version_that_does_not_follow_says_which(tmp_path: Path) -> None:
    plan = plan_of("a").model_copy(update={"labctl": "9.9.9"})
    path = sealed_run(tmp_path, plan, [attempt_of(plan, "a")])
    _edit_json(path / evidence.RESULTS, lambda results: results.update(runId="x"))
    assert "cause: the run was written by labctl 9.9.9" in diverges(path)


def test_a_case_that_was_never_started_follows_from_the_plan_alone(tmp_path: Path) -> None:
    plan = plan_of("a", "b", repeats=2)
    path = sealed_run(tmp_path, plan, [attempt_of(plan, "a", attempt=1, journal_rows=0)])
    assert verify_run(path).cases == 2
    checks = json.loads((path / evidence.RESULTS).read_text())["cases"][0]["attempts"][0]["checks"]
    assert checks[0]["type"] == CheckType.ASSERTION
    assert checks[0]["outcome"] == Outcome.PASS
