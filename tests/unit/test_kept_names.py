"""Files of the suite are kept under names without secrets, and none takes the place of another."""

from __future__ import annotations

from pathlib import Path

from driver.staging import Staged, keep_suite
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory


def test_names_are_redacted_as_contents_are_and_stay_apart(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    for name in ("dir-secret-one/a.txt", "b-secret-one", "b-secret-two", "plain"):
        (suite / name).parent.mkdir(parents=True, exist_ok=True)
        (suite / name).write_text(f"{name} of {name}")
    run = RunDirectory.create(tmp_path / "runs", run_id="run-1")
    redactor = Redactor({"A": "secret-one", "B": "secret-two", "C": "b-[redacted:A]"})
    stage = Staged(suite=suite, agent_suite=suite, links_left_out=(), agent=None)

    assert keep_suite(run, stage, redactor=redactor) == []

    kept = sorted(path.relative_to(run.path / "suite").as_posix() for path in (run.path / "suite").rglob("*.*t"))
    assert kept == ["dir-[redacted:A]/a.txt"]
    names = {path.name for path in (run.path / "suite").iterdir() if path.is_file()}
    assert names == {"b-[redacted:A]", "b-[redacted:B]", "plain"}
    assert (run.path / "suite" / "b-[redacted:A]").read_text() == "b-[redacted:A] of b-[redacted:A]"
    counted = redactor.counts.by_file()
    assert counted["suite/ (names of files)"] == {"A": 2, "B": 1}
    assert counted["suite/b-[redacted:B]"] == {"B": 2}


def test_names_that_become_one_get_a_number(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    keys = ["ghp_" + letter * 36 for letter in "ab"]
    for key in keys:
        (suite / key).write_text("x")
    run = RunDirectory.create(tmp_path / "runs", run_id="run-1")
    keep_suite(run, Staged(suite=suite, agent_suite=suite, links_left_out=(), agent=None), redactor=Redactor({}))
    kept = sorted(path.name for path in (run.path / "suite").iterdir())
    assert kept == ["[redacted:shape:github]", "[redacted:shape:github] #2"]
