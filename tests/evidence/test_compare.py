"""What may be compared: sealed runs, archives of them, the latest of a job; everything else is refused by name."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from comparison.compare import compare
from comparison.sides import Allowance
from contracts import evidence
from contracts.comparison import Comparison, Verdict
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.outcome import Outcome
from driver import two_runs
from driver.output_file import require_output, write_output
from driver.run_archive import MAX_BYTES
from driver.run_names import run_directory_of
from driver.two_runs import verified_side, verified_sides
from tests.fakes.real_runs import labctl
from tests.fakes.written_runs import attempt_of, plan_of, seal_again, sealed_run


def run_of(folder: Path, run_id: str = "run-a", *, cases: tuple[str, ...] = ("p", "a"), **of_plan: Any) -> Path:
    plan = plan_of(*cases).model_copy(update={"run_id": run_id, **of_plan})
    return sealed_run(folder, plan, [attempt_of(plan, name) for name in cases])


def compared(baseline: Path, candidate: Path) -> Comparison:
    with verified_sides(baseline, candidate) as sides:
        return compare(*sides, allowance=Allowance(tolerance=Decimal(0)))


def refused(baseline: Path, candidate: Path) -> LabError:
    with pytest.raises(LabError) as caught:
        compared(baseline, candidate)
    return caught.value


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return run_of(tmp_path / "good")


def _cut_results(run: Path) -> None:
    path = run / evidence.RESULTS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))


def _other_schema(run: Path) -> None:
    path = run / evidence.PLAN
    path.write_text(path.read_text().replace('"schemaVersion": 1', '"schemaVersion": 2'))
    (run / evidence.COMPLETE).unlink()
    seal_again(run)
    complete = run / evidence.COMPLETE
    complete.write_text(complete.read_text().replace("run-2026-09-01-120000-0a1b2c", "run-b"))


def _forge(run: Path, name: str, was: str, becomes: str) -> None:
    path = run / name
    assert was in path.read_text()
    path.write_text(path.read_text().replace(was, becomes, 1))
    seal_again(run)
    complete = run / evidence.COMPLETE
    complete.write_text(complete.read_text().replace("run-2026-09-01-120000-0a1b2c", "run-b"))


BROKEN: dict[str, tuple[Callable[[Path], object], ErrorCode, str]] = {
    "without COMPLETE": (lambda run: (run / evidence.COMPLETE).unlink(), ErrorCode.UNSEALED, "has no COMPLETE"),
    "results cut": (_cut_results, ErrorCode.ALTERED, "results.json: was changed or cut"),
    "an extra file": (lambda run: (run / "extra").touch(), ErrorCode.ALTERED, "extra: is not listed"),
    "a file gone": (lambda run: (run / evidence.RUN_LOG).unlink(), ErrorCode.ALTERED, "run.log: is missing"),
    "attempts gone": (
        lambda run: (run / evidence.ATTEMPTS).unlink(),
        ErrorCode.ALTERED,
        "traces/attempts.jsonl: is missing",
    ),
    "a link": (lambda run: (run / "link").symlink_to("plan.json"), ErrorCode.ALTERED, "link: is a symbolic link"),
    "another schema": (_other_schema, ErrorCode.OTHER_SCHEMA, "is written in version 2 of the schema"),
    "forged totals": (
        lambda run: _forge(run, evidence.RESULTS, '"passed": 2', '"passed": 1'),
        ErrorCode.RESULTS_DIVERGE,
        "results.json line",
    ),
    "a forged case": (
        lambda run: _forge(run, evidence.RESULTS, '"outcome": "pass"', '"outcome": "fail"'),
        ErrorCode.RESULTS_DIVERGE,
        "results.json line",
    ),
    "a forged report": (
        lambda run: _forge(run, evidence.JUNIT, 'name="a"', 'name="b"'),
        ErrorCode.RESULTS_DIVERGE,
        "junit.xml line",
    ),
}


@pytest.fixture(params=["small", "large"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "large":
        monkeypatch.setattr(two_runs, "_LARGE_BYTES", 1)


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("side", ["baseline", "candidate"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_run_that_does_not_verify_is_refused_on_either_side(tmp_path: Path, good: Path, name: str, side: str) -> None:
    change, code, found = BROKEN[name]
    broken = run_of(tmp_path / "broken", "run-b")
    change(broken)
    error = refused(broken, good) if side == "baseline" else refused(good, broken)
    assert (error.code, error.exit_code) == (code, Exit.EVIDENCE)
    assert found in str(error)


def test_two_runs_that_do_not_verify_are_both_told(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, name) for name in ("run-a", "run-b")]
    for run in runs:
        (run / evidence.RUN_LOG).write_text("changed")
    text = str(refused(*runs))
    assert all(str(run) in text for run in runs)


def test_runs_without_a_common_case_are_refused(tmp_path: Path, good: Path) -> None:
    error = refused(good, run_of(tmp_path / "other", "run-b", cases=("x", "y")))
    assert (error.code, error.exit_code) == (ErrorCode.NOTHING_IN_COMMON, Exit.USAGE)
    assert "run-a: 2 cases, the first p" in str(error)
    assert "run-b: 2 cases, the first x" in str(error)
    error = refused(good, run_of(tmp_path / "empty", "run-c", cases=()))
    assert error.message == "run-c has no case"


def test_a_run_compared_with_itself_is_allowed_and_says_so(good: Path) -> None:
    found = compared(good, good)
    assert found.verdict is Verdict.NO_REGRESSION
    assert "baseline and candidate are the same run: nothing can differ" in found.reasons


def test_an_edited_expectation_is_another_definition(tmp_path: Path, good: Path) -> None:
    plan = plan_of("p", "a").model_copy(update={"run_id": "run-b"})
    edited = replace(plan.cases[1], case_digest="sha256:" + "1" * 64)
    plan = plan.model_copy(update={"cases": (plan.cases[0], edited)})
    records = [attempt_of(plan, "p"), attempt_of(plan, "a", outcome=Outcome.FAIL)]
    found = compared(good, sealed_run(tmp_path / "edited", plan, records))
    assert (found.unknown, found.cases_regressed) == (("a",), ())
    assert found.verdict is Verdict.CANNOT_TELL


def test_large_runs_are_read_side_by_side_with_the_same_answer(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of("p", "a").model_copy(update={"run_id": "run-b"})
    bad = sealed_run(tmp_path / "bad", plan, [attempt_of(plan, "p"), attempt_of(plan, "a", outcome=Outcome.FAIL)])
    here = compared(good, bad)
    monkeypatch.setattr(two_runs, "_LARGE_BYTES", 1)
    assert compared(good, bad) == here
    (bad / "extra").touch()
    error = refused(good, bad)
    assert (error.code, error.exit_code) == (ErrorCode.ALTERED, Exit.EVIDENCE)
    assert "extra: is not listed" in str(error)


@pytest.mark.parametrize("nested", ["run", "evidence/run", "a/b/c/run", "."])
@pytest.mark.parametrize("form", ["gztar", "zip"])
def test_an_artefact_of_a_ci_service_is_a_run(tmp_path: Path, good: Path, form: str, nested: str) -> None:
    shutil.copytree(good, tmp_path / "packing" / nested, dirs_exist_ok=True)
    archive = Path(shutil.make_archive(str(tmp_path / "artefact"), form, root_dir=tmp_path / "packing"))
    assert compared(archive, good).verdict is Verdict.NO_REGRESSION


def test_a_zip_of_a_tar_is_a_run_too_because_that_keeps_modes(tmp_path: Path, good: Path) -> None:
    (tmp_path / "packing").mkdir()
    shutil.make_archive(str(tmp_path / "packing" / "run"), "gztar", root_dir=good.parent, base_dir=good.name)
    archive = Path(shutil.make_archive(str(tmp_path / "artefact"), "zip", root_dir=tmp_path / "packing"))
    assert compared(archive, good).verdict is Verdict.NO_REGRESSION


def test_an_archive_of_several_runs_names_them(tmp_path: Path, good: Path) -> None:
    run_of(good.parent, "run-b")
    archive = Path(shutil.make_archive(str(tmp_path / "both"), "zip", root_dir=good.parent))
    error = refused(archive, good)
    assert (error.code, "holds 2 runs" in str(error), "run-a, run-b" in str(error)) == (ErrorCode.NO_RUN, True, True)


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_ten_gigabytes_of_zeros_are_refused_before_one_of_them_is_written(
    tmp_path: Path, good: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / f"zeros.{form}"
    size = 10 * 1024**3
    assert size > MAX_BYTES
    if form == "zip":
        with zipfile.ZipFile(archive, "w") as packed:
            for name in ("plan.json", "run.log", "junit.xml"):
                packed.writestr(name, b"")
        # each entry of the directory says at its 24th byte how much it unpacks to
        first, *entries = archive.read_bytes().split(b"PK\x01\x02")
        lying = [entry[:20] + (0xFFFFFFF0).to_bytes(4, "little") + entry[24:] for entry in entries]
        archive.write_bytes(b"PK\x01\x02".join([first, *lying]))
    else:
        info = tarfile.TarInfo("plan.json")
        info.size = size
        header = info.tobuf(tarfile.GNU_FORMAT)
        with tarfile.open(archive, "w:gz") as tar:
            tar.fileobj.write(header + bytes(512))
    written = tmp_path / "temporary"
    written.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(written))
    monkeypatch.setattr("driver.run_archive._copy", _never)
    error = refused(archive, good)
    assert error.code is ErrorCode.ALTERED
    assert f"unpacks to more than {MAX_BYTES} bytes" in str(error)
    assert list(written.iterdir()) == []


def _never(*_: object) -> int:
    raise AssertionError("it was written")


def test_a_path_that_is_a_file_is_no_run(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("notes")
    error = refused(path, good)
    assert (error.code, error.exit_code) == (ErrorCode.NO_RUN, Exit.USAGE)
    assert refused(good, tmp_path / "nowhere").code is ErrorCode.NO_RUN


DOCKER_AGENTS = {
    "name": "run-1",
    "timestamp": "2026-09-01T12:00:00Z",
    "duration": "1.2s",
    "config": {"agent": "agent.yaml", "judge_model": "", "concurrency": 2, "evals_dir": "evals"},
    "summary": {"total_evals": 1},
    "sessions": [],
}


def test_a_run_of_docker_agent_is_recognised_and_refused_with_the_way_to_a_baseline(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(DOCKER_AGENTS, indent=2))
    error = refused(path, good)
    assert (error.code, error.exit_code) == (ErrorCode.NO_BASELINE, Exit.USAGE)
    assert error.next_step is not None
    assert "labctl run --agent agent.yaml EVALS" in error.next_step
    store = tmp_path / "sessions.db"
    store.write_bytes(b"SQLite format 3\0" + bytes(100))
    assert refused(good, store).code is ErrorCode.NO_BASELINE


def test_the_latest_sealed_run_of_a_job_is_found_in_the_evidence_folder(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    for number, (run_id, flags, at) in enumerate(
        [
            ("run-1", ("--job", "fault"), "2026-09-01T12:00:00.000Z"),
            ("run-0", ("--job=fault",), "2026-09-02T12:00:00.000Z"),
            ("run-2", ("--job", "clean"), "2026-09-03T12:00:00.000Z"),
            ("run-3", (), "2026-09-04T12:00:00.000Z"),
            ("run-4", ("--job", "fault"), "2026-09-05T12:00:00.000Z"),
        ]
    ):
        run = run_of(folder, run_id, command=("labctl", "run", *flags), planned_at=at)
        if number == 4:
            (run / evidence.COMPLETE).unlink()
    (folder / "notes").mkdir()
    with run_directory_of(Path("latest:fault"), evidence=folder) as found:
        assert found.name == "run-0"
    with pytest.raises(LabError) as caught, run_directory_of(Path("latest:observe"), evidence=folder):
        pass
    assert caught.value.code is ErrorCode.NO_RUN
    assert "jobs with a sealed run: clean, fault" in str(caught.value)
    with pytest.raises(LabError), run_directory_of(Path("latest:fault"), evidence=tmp_path / "nowhere"):
        pass


def test_the_latest_run_is_called_by_its_directory_and_never_an_older_one_instead(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    for number in (1, 2):
        at = f"2026-09-0{number}T12:00:00.000Z"
        latest = run_of(folder, f"run-{number}", command=("labctl", "run", "--job", "clean"), planned_at=at)
    with (latest / evidence.RESULTS).open("a") as results:
        results.write(" ")
    with pytest.raises(LabError) as caught, verified_side(Path("latest:clean"), evidence_folder=folder):
        pass
    assert (caught.value.code, str(latest) in caught.value.message) == (ErrorCode.ALTERED, True)
    (latest / evidence.PLAN).write_text("{")
    with pytest.raises(LabError) as caught, run_directory_of(Path("latest:clean"), evidence=folder):
        pass
    assert caught.value.code is ErrorCode.ALTERED
    assert [found.file for found in caught.value.found] == [str(latest / evidence.PLAN)]


@pytest.mark.parametrize("is_sealed", [True, False])
@pytest.mark.parametrize("place", ["", "traces", "not-there/yet"])
def test_no_run_begins_in_another_one_and_no_suite_is_made_there(good: Path, place: str, is_sealed: bool) -> None:
    if not is_sealed:  # what is added to a run under way is in no seal when it ends
        (good / evidence.COMPLETE).unlink()
    before = sorted(good.rglob("*"))
    for words in (("run", "--backend", "process", "--evidence"), ("cases", "import", "nowhere", "--to")):
        done = labctl(*words, str(good / place))
        assert (done.returncode, b"sealed-run" in done.stderr) == (2, True), done.stderr
    assert sorted(good.rglob("*")) == before


@pytest.mark.parametrize("name", ["comparison.json", "traces/x.json", "link/x.json"])
def test_an_output_into_a_sealed_run_is_refused(good: Path, name: str) -> None:
    (good.parent / "link").symlink_to(good)
    path = good.parent / name if name.startswith("link") else good / name
    with pytest.raises(LabError) as caught:
        require_output(path, inputs=())
    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.SEALED_RUN, Exit.USAGE)


def test_an_output_that_is_no_place_for_a_text_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "run.zip"
    archive.touch()
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("-"), tmp_path, tmp_path / "pipe", tmp_path / "nowhere" / "x", archive):
        with pytest.raises(LabError) as caught:
            require_output(path, inputs=(archive,))
        assert caught.value.exit_code is Exit.USAGE


def test_an_output_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "comparison.md"
    require_output(path, inputs=())
    write_output(path, "one\n")
    write_output(path, "zwei ü\n")
    assert path.read_text() == "zwei ü\n"
    assert [one.name for one in tmp_path.iterdir()] == ["comparison.md"]
