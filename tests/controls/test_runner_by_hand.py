"""`python -m runner hand`: a summary, an unsealed directory and the exit status of `labctl run`."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.controls.lab_processes import (
    PATIENCE_S,
    ROOT,
    SAMPLE,
    fixture_api,
)
from tests.fakes.control_suites import CHAT_CASES, SETTINGS, write_controls
from tests.fakes.session_folder import session, write_sessions


def by_hand(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "runner", "hand", *arguments]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S * 2, check=False)


def test_by_hand_the_sample_suite_prints_its_summary_and_leaves_an_unsealed_directory(tmp_path: Path) -> None:
    with fixture_api(SAMPLE, select="hand") as api:
        done = by_hand(
            "--suite", str(SAMPLE), "--evidence", str(tmp_path),
            "--fixture-url", api.fixture_url, "--control-url", api.control_url,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    *summary, path = done.stdout.splitlines()
    assert any("20 passed" in line for line in summary)
    run = Path(path)
    assert run.parent == tmp_path
    files = {str(file.relative_to(run)) for file in run.rglob("*") if file.is_file()}
    assert {"plan.json", "results.json", "junit.xml", "journal.jsonl", "traces/attempts.jsonl"} <= files
    assert not files & {"COMPLETE", "environment.json"}


def test_by_hand_a_suite_of_sessions_leaves_the_session_files_too(tmp_path: Path) -> None:
    rules = json.dumps({"rules": [{"reply": {"text": "hello yourself"}}]})
    settings = 'default_agent = "talker"\n[agents.talker]\nadapter = "chat"\nmodel = "scripted/talker"\n'
    files = {"suite.toml": settings, "models/talker.json": rules}
    suite = write_sessions(tmp_path / "suite", {"greets": session(size="S")}, files=files)
    with fixture_api(suite, select="hand") as api:
        done = by_hand(
            "--suite", str(suite), "--evidence", str(tmp_path / "evidence"),
            "--fixture-url", api.fixture_url, "--control-url", api.control_url,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.splitlines()[-1])
    (told,) = json.loads((run / "sessions.json").read_text())["sessions"]
    assert (told["eval_result"]["passed"], told["evals"]["size"]) == (True, "S")
    with closing(sqlite3.connect(f"file:{run / 'sessions.db'}?mode=ro&immutable=1", uri=True)) as store:
        assert store.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_by_hand_a_case_that_fails_is_exit_1(tmp_path: Path) -> None:
    suite = write_controls(tmp_path / "suite", CHAT_CASES, settings=SETTINGS.replace('"controls"', '"talker"'))
    with fixture_api(suite, select="hand") as api:
        done = by_hand(
            "--suite", str(suite), "--evidence", str(tmp_path / "evidence"),
            "--fixture-url", api.fixture_url, "--control-url", api.control_url,
        )  # fmt: skip

    assert done.returncode == 1, done.stderr
    assert "model-fails" in done.stdout


def test_by_hand_a_bad_suite_is_an_error_text_and_leaves_nothing(tmp_path: Path) -> None:
    done = by_hand("--suite", str(tmp_path / "nothing"), "--evidence", str(tmp_path / "evidence"))

    assert done.returncode == 2
    assert done.stderr.startswith("labctl: suite-missing: ")
    assert done.stdout == ""
    assert not (tmp_path / "evidence").exists()


def test_a_command_that_is_none_is_said_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runner", "dance"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 2
    assert "usage" in done.stderr
