"""Whatever was done to a sealed run, `verify` says so and names the file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import evidence
from contracts.attempt import CheckType
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.outcome import Outcome
from driver.verify import verify_run
from tests.fakes.written_runs import RUN_ID, attempt_of, plan_of, rows_of, seal_again, sealed_run

FILES = (
    "README.md",
    "environment.json",
    "journal.jsonl",
    "junit.xml",
    "plan.json",
    "results.json",
    "run.log",
    "suite/cases.json",
    "suite/prompts/v6.md",
    "traces/attempts.jsonl",
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sealed run of two cases, one of which failed."""
    return sealed_run(tmp_path)


def _refused(path: Path) -> LabError:
    with pytest.raises(LabError) as caught:
        verify_run(path)
    assert caught.value.exit_code is Exit.EVIDENCE
    return caught.value


def _altered(path: Path) -> str:
    error = _refused(path)
    assert error.code is ErrorCode.ALTERED
    return str(error)


def _diverges(path: Path) -> str:
    seal_again(path)
    error = _refused(path)
    assert error.code is ErrorCode.RESULTS_DIVERGE
    return str(error)


def test_a_sealed_run_is_verified_also_after_it_was_copied(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "elsewhere")
    for path in (run, copy):
        verified = verify_run(path)
        assert (verified.files, verified.cases) == (len(FILES), 2)
        assert verified.plan.run_id == RUN_ID


@pytest.mark.parametrize("name", [*FILES, "COMPLETE"])
def test_a_flipped_byte_in_any_file_is_found_wherever_it_is(run: Path, name: str) -> None:
    content = (run / name).read_bytes()
    for at in sorted({0, 1, len(content) // 3, len(content) // 2, len(content) - 1} & set(range(len(content)))):
        (run / name).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        error = _altered(run)
        assert name == "COMPLETE" or f"found: {name}: was changed or cut" in error
        (run / name).write_bytes(content)
    assert verify_run(run).files == len(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_removed_file_is_named(run: Path, name: str) -> None:
    (run / name).unlink()
    assert f"found: {name}: is missing" in _altered(run)


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_at_a_line_end_is_named(run: Path, name: str) -> None:
    lines = (run / name).read_bytes().splitlines(keepends=True)
    (run / name).write_bytes(b"".join(lines[:-1]))
    assert f"found: {name}: was changed or cut" in _altered(run)


@pytest.mark.parametrize("name", ["extra", "suite/extra.json", "suite/new/deep", ".hidden", "traces/otlp.jsonl", "-"])
def test_an_added_file_is_named_also_when_it_is_empty(run: Path, name: str) -> None:
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).touch()
    assert f"found: {name}: is not listed in COMPLETE" in _altered(run)


def test_a_renamed_file_is_missing_and_unlisted(run: Path) -> None:
    (run / "run.log").rename(run / "ran.log")
    error = _altered(run)
    assert "found: run.log: is missing" in error
    assert "found: ran.log: is not listed" in error


@pytest.mark.parametrize("folder", ["empty", "suite/empty", "a/b/c"])
def test_an_empty_folder_is_named(run: Path, folder: str) -> None:
    (run / folder).mkdir(parents=True)
    assert f"found: {folder}/: is an empty folder" in _altered(run)


def test_a_file_replaced_by_a_link_to_its_own_content_is_named(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (run / "run.log").rename(outside)
    (run / "run.log").symlink_to(outside)
    error = _altered(run)
    assert "found: run.log: is a symbolic link" in error
    assert error.count("run.log") == 1
    (run / "run.log").unlink()
    (run / "run.log").hardlink_to(outside)
    assert "found: run.log: is a hard link" in _altered(run)


def test_a_folder_replaced_by_a_link_is_named(run: Path, tmp_path: Path) -> None:
    (run / "suite").rename(tmp_path / "suite")
    (run / "suite").symlink_to(tmp_path / "suite")
    assert "found: suite: is a symbolic link" in _altered(run)


@pytest.mark.parametrize("name", ["plan.json", "COMPLETE", "traces/attempts.jsonl"])
def test_a_pipe_in_place_of_a_file_is_named_and_never_opened(run: Path, name: str) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    assert f"found: {name}: is a special file" in _altered(run)


@pytest.mark.parametrize("name", ["two\nlines", "back\\slash", "esc\x1b[2J"])
def test_a_name_that_could_break_a_line_is_shown_escaped(run: Path, name: str) -> None:
    (run / name).touch()
    error = _altered(run)
    assert "the name holds a" in error
    assert "\x1b" not in error
    assert len(error.splitlines()) == 2


def test_many_problems_are_named_up_to_a_bound(run: Path) -> None:
    for number in range(100):
        (run / f"extra-{number:03}").touch()
    error = _altered(run)
    assert "found: extra-039: is not listed" in error
    assert "found: and 60 more" in error


def _respelled(change: Callable[[list[str]], list[str]]) -> Callable[[bytes], bytes]:
    """Change the lines below the header and give them a header with a right digest."""

    def respell(sealed: bytes) -> bytes:
        lines = change(sealed.decode().split("\n")[1:-1])
        body = "".join(f"{line}\n" for line in lines).encode()
        digest = hashlib.sha256(body).hexdigest()
        return f"# labctl-seal 1 run={RUN_ID} files={len(FILES)} body={digest}\n".encode() + body

    return respell


RESPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "upper-case digests": _respelled(lambda lines: [line[:64].upper() + line[64:] for line in lines]),
    "binary marks": _respelled(lambda lines: [line.replace("  ", " *", 1) for line in lines]),
    "carriage returns": _respelled(lambda lines: [line + "\r" for line in lines]),
    "another order": _respelled(lambda lines: lines[::-1]),
    "a line twice": _respelled(lambda lines: [*lines, lines[-1]]),
    "a comment": _respelled(lambda lines: ["# nothing to see", *lines]),
    "an empty line": _respelled(lambda lines: [*lines, ""]),
    "a path with a dot": _respelled(lambda lines: [line.replace("  ", "  ./", 1) for line in lines]),
    "a path over the parent": _respelled(lambda lines: [line.replace("  ", f"  ../{RUN_ID}/", 1) for line in lines]),
    "an escaped name": _respelled(lambda lines: ["\\" + line for line in lines]),
    "a BSD line": _respelled(lambda lines: [f"SHA256 ({line[66:]}) = {line[:64]}" for line in lines]),
    "no header": lambda sealed: sealed.partition(b"\n")[2],
    "two headers": lambda sealed: sealed.partition(b"\n")[0] + b"\n" + sealed,
    "another run in the header": lambda sealed: sealed.replace(RUN_ID.encode(), b"run-other", 1),
    "another count in the header": lambda sealed: sealed.replace(b"files=10", b"files=11", 1),
    "another digest in the header": lambda sealed: sealed.replace(b"body=", b"body=0", 1),
    "another seal version": lambda sealed: sealed.replace(b"labctl-seal 1", b"labctl-seal 2", 1),
    "no last line end": lambda sealed: sealed[:-1],
    "cut at a line": lambda sealed: b"".join(sealed.splitlines(keepends=True)[:-1]),
    "empty": lambda _: b"",
    "a byte order mark": lambda sealed: b"\xef\xbb\xbf" + sealed,
    "a gigabyte of nothing": lambda sealed: sealed + b"\n" * 3_000_000,
}


@pytest.mark.parametrize("spelling", RESPELLINGS)
def test_another_spelling_of_complete_is_refused(run: Path, spelling: str) -> None:
    sealed = (run / evidence.COMPLETE).read_bytes()
    respelled = RESPELLINGS[spelling](sealed)
    assert respelled != sealed
    (run / evidence.COMPLETE).write_bytes(respelled)
    error = _altered(run)
    assert "COMPLETE" in error
    assert len(error) < 5000


def test_a_run_without_complete_is_unsealed(run: Path) -> None:
    (run / evidence.COMPLETE).unlink()
    assert _refused(run).code is ErrorCode.UNSEALED


@pytest.mark.parametrize("what", ["nothing", "an empty folder", "a folder of other files", "a text file", "/dev/null"])
def test_a_path_that_is_no_run_is_bad_usage_and_no_broken_evidence(tmp_path: Path, what: str) -> None:
    path = Path("/dev/null") if what == "/dev/null" else tmp_path / "given"
    if "folder" in what:
        path.mkdir()
    if what == "a folder of other files":
        (path / "notes.txt").touch()
    if what == "a text file":
        path.write_text("hello")
    with pytest.raises(LabError) as caught:
        verify_run(path)
    assert caught.value.code is ErrorCode.NO_RUN
    assert caught.value.exit_code is Exit.USAGE


def test_a_sealed_folder_that_lost_its_plan_is_altered_and_not_no_run(run: Path) -> None:
    (run / evidence.PLAN).unlink()
    assert "plan.json: is missing" in _altered(run)


def _edit_json(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def test_a_results_file_edited_and_sealed_again_does_not_follow_from_the_attempts(run: Path) -> None:
    def pass_all(results: Any) -> None:
        results["summary"] |= {"passed": 2, "failed": 0, "passRate": [1.0, 1.0]}
        results["cases"][1]["outcome"] = "pass"

    _edit_json(run / evidence.RESULTS, pass_all)
    error = _diverges(run)
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
    assert f"found: {name} line" in _diverges(run)


def _edit_attempt(run: Path, number: int, **fields: Any) -> None:
    path = run / evidence.ATTEMPTS
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[number].update(fields)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


ATTEMPT_FORGERIES: dict[str, tuple[dict[str, Any], str]] = {
    "outcome": ({"outcome": "pass"}, "passed, although a check of it did not"),
    "outcome and checks": ({"outcome": "pass", "checks": []}, "results.json"),
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
    assert found in _diverges(run)


def test_an_attempt_left_out_is_found_by_its_journal_rows_and_the_results(run: Path) -> None:
    path = run / evidence.ATTEMPTS
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert "found: journal.jsonl line 3: recovery, attempt 1: a row of no attempt" in _diverges(run)


def test_an_attempt_that_stands_twice_is_found(run: Path) -> None:
    path = run / evidence.ATTEMPTS
    path.write_text(path.read_text() + path.read_text().splitlines(keepends=True)[0])
    assert "line 3: approval, attempt 1: an attempt that stands above already" in _diverges(run)


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
    assert found in _diverges(run)


@pytest.mark.parametrize("name", [evidence.JOURNAL, evidence.ATTEMPTS])
def test_a_line_without_its_end_is_cut_also_under_a_right_seal(run: Path, name: str) -> None:
    (run / name).write_bytes((run / name).read_bytes()[:-1])
    assert "is cut" in _diverges(run)


def test_a_manifest_of_other_conditions_than_the_plan_is_found(run: Path) -> None:
    def change(manifest: Any) -> None:
        manifest["conditions"]["seed"] = 1
        manifest["runId"] = "run-other"
        manifest["cases"]["approval"]["caseDigest"] = "sha256:" + "1" * 64

    _edit_json(run / evidence.ENVIRONMENT, change)
    error = _diverges(run)
    for place in ("runId", "conditions", "cases"):
        assert f"found: environment.json {place}: is not what plan.json says" in error
    (run / evidence.ENVIRONMENT).write_text("{}")
    assert "environment.json: is no manifest" in _diverges(run)


def test_a_plan_edited_and_sealed_again_no_longer_leads_to_the_results(run: Path) -> None:
    _edit_json(run / evidence.PLAN, lambda plan: plan["cases"].pop())
    assert "recovery, attempt 1: a case that is not planned" in _diverges(run)
    (run / evidence.PLAN).write_text("[]")
    seal_again(run)
    assert "plan.json" in _altered(run)


def test_a_run_of_another_version_that_does_not_follow_says_which(tmp_path: Path) -> None:
    plan = plan_of("a").model_copy(update={"labctl": "9.9.9"})
    path = sealed_run(tmp_path, plan, [attempt_of(plan, "a")])
    _edit_json(path / evidence.RESULTS, lambda results: results.update(runId="x"))
    assert "cause: the run was written by labctl 9.9.9" in _diverges(path)


def test_a_case_that_was_never_started_follows_from_the_plan_alone(tmp_path: Path) -> None:
    plan = plan_of("a", "b", repeats=2)
    path = sealed_run(tmp_path, plan, [attempt_of(plan, "a", attempt=1, journal_rows=0)])
    assert verify_run(path).cases == 2
    checks = json.loads((path / evidence.RESULTS).read_text())["cases"][0]["attempts"][0]["checks"]
    assert checks[0]["type"] == CheckType.ASSERTION
    assert checks[0]["outcome"] == Outcome.PASS
