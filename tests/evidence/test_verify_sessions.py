"""A sealed run over sessions: sessions.json and sessions.db must follow from plan, attempts and the kept suite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts import evidence
from contracts.outcome import Outcome
from contracts.suite.files import read_session_cases
from driver.seal import seal
from driver.verify import verify_run
from ledger.session_files import write_session_files
from tests.fakes.refused_runs import diverges
from tests.fakes.session_folder import said, session, write_sessions
from tests.fakes.written_runs import attempt_of, plan_of, seal_again, write_manifest, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Of two sessions, the second of which failed."""
    plan = plan_of("approval", "recovery")
    records = [attempt_of(plan, "approval"), attempt_of(plan, "recovery", outcome=Outcome.FAIL)]
    written = write_run(tmp_path, plan, records)
    (written.path / "suite" / "cases.json").unlink()
    write_sessions(written.path / "suite", {"approval": session(size="S"), "recovery": session(said("user", "again"))})
    (tmp_path / "scratch").mkdir()
    assert write_session_files(written, plan, suite=written.path / "suite", scratch=tmp_path / "scratch")
    write_manifest(written, plan)
    seal(written)
    return written.path


def test_what_was_written_verifies(run: Path) -> None:
    assert verify_run(run).cases == 2


def edited(run: Path, change: Callable[[Any], None]) -> str:
    path = run / evidence.SESSIONS_JSON
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    return diverges(run)


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["sessions"][1]["eval_result"].update(passed=True, failures=[]),
        lambda told: told["sessions"][1]["messages"].pop(),
        lambda told: told["sessions"].pop(),
        lambda told: told["summary"].update(failed_evals=1),
        lambda told: told["sessions"][0]["messages"][0]["message"]["message"].update(content="another question"),
        lambda told: told["sessions"][0]["evals"].update(size="M"),
        lambda told: told.update(note="added"),
    ],
    ids=["passed", "message", "session", "summary", "question", "expected", "key"],
)
def test_a_sessions_json_edited_and_sealed_again_does_not_follow(run: Path, change: Callable[[Any], None]) -> None:
    found = edited(run, change)
    assert "found: sessions.json line" in found
    assert "sessions.db" not in found


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("UPDATE sessions SET cost = 1 WHERE rowid = 2", "row 2 of sessions"),
        ("UPDATE session_items SET message_json = '{}' WHERE id = 1", "row 1 of session_items"),
        ("DELETE FROM session_items WHERE id = (SELECT max(id) FROM session_items)", "of session_items"),
        ("INSERT INTO sessions (id) VALUES ('another')", "row 3 of sessions"),
        ("DELETE FROM migrations WHERE id = 24", "row 24 of migrations"),
        ("CREATE TABLE notes (text TEXT)", "of sqlite_master"),
        (
            "CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
            "sqlite_ma",
        ),
        ("UPDATE sqlite_sequence SET seq = 99", "row 1 of sqlite_sequence"),
    ],
)
def test_a_store_edited_and_sealed_again_does_not_follow(run: Path, statement: str, place: str) -> None:
    with closing(sqlite3.connect(run / evidence.SESSIONS_DB)) as store, store:
        store.execute(statement)
    found = diverges(run)
    assert "found: sessions.db: row" in found
    assert place in found
    assert "sessions.json" not in found


def test_a_table_in_the_stead_of_a_view_is_not_asked(run: Path) -> None:
    with closing(sqlite3.connect(run / evidence.SESSIONS_DB)) as store, store:
        store.execute("DROP TABLE session_items")
        store.execute("DROP TABLE sessions")
        store.execute(
            "CREATE VIEW sessions AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
        )
    assert "of sqlite_master does not follow" in diverges(run)


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_store_that_is_none_is_told_and_stops_nothing(run: Path, content: bytes) -> None:
    (run / evidence.SESSIONS_DB).write_bytes(content)
    assert "found: sessions.db: " in diverges(run)


@pytest.mark.parametrize("name", [evidence.SESSIONS_JSON, evidence.SESSIONS_DB])
def test_a_run_over_sessions_has_both_files(run: Path, name: str) -> None:
    (run / name).unlink()
    assert f"found: {name}: is missing; every run over sessions has it" in diverges(run)


def test_a_run_that_is_none_over_sessions_has_neither(run: Path) -> None:
    for name in ("approval", "recovery"):
        (run / "suite" / f"{name}.json").unlink()
    (run / "suite" / "cases.json").write_text('{"cases": []}')
    found = diverges(run)
    assert "found: sessions.json: follows from nothing: no planned case is a session" in found
    assert "found: sessions.db: follows from nothing" in found


def test_a_kept_session_edited_and_sealed_again_no_longer_fits_what_was_written(run: Path) -> None:
    write_sessions(run / "suite", {"approval": session(size="XL")})
    seal_again(run)
    found = diverges(run)
    assert "found: sessions.json line" in found


def test_a_suite_whose_cases_file_was_too_large_to_keep_is_none_of_sessions(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    assert read_session_cases(tmp_path / "suite", ["a", "b"]) == {}
    (tmp_path / "suite" / "suite.toml").write_text("seed = 1\n")
    assert read_session_cases(tmp_path / "suite", ["a", "b"]) == {}
