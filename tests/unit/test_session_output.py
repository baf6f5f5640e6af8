"""sessions.json and sessions.db: what docker-agent's users find in them, and what never is in them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts import evidence
from contracts.attempt import AttemptRecord, Check, CheckType, TrajectoryCall, Usage
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import Capture, Plan
from ledger.capture import capture_attempt
from ledger.run_directory import RunDirectory
from ledger.session_files import write_session_files
from ledger.sessions_json import go_duration
from tests.fakes.session_folder import session, write_sessions
from tests.fakes.written_runs import DIGEST, RUN_ID, plan_of

ANSWER = "a long answer of the agent " * 10


def case(case_id: str, **evals: Any) -> tuple[str, dict[str, Any]]:
    return case_id, session(**evals)


def check(kind: CheckType, outcome: Outcome = Outcome.PASS, **keys: Any) -> Check:
    return Check(name=keys.pop("name", kind.value), type=kind, outcome=outcome, **keys)


def attempt(case_id: str, number: int = 1, **keys: Any) -> AttemptRecord:
    planned = {"title": f"About {case_id}", "protected": case_id == "one", "case_digest": DIGEST}
    defaults: dict[str, Any] = {"outcome": Outcome.PASS, "trajectory_digest": DIGEST, "tool_calls": 0}
    times = {"started_at": f"2026-09-01T12:00:0{number}.000Z", "duration_ms": 1500}
    return AttemptRecord(case_id=case_id, attempt=number, **{"repeat": number, **planned, **defaults, **times, **keys})


CALLS = (
    TrajectoryCall(tool="lookup", arguments={"id": "x" * 80}, made=True, claimed=True, counts=True, result=ANSWER),
    TrajectoryCall(tool="pretended", made=False, claimed=True, counts=False),
)
CHECKS = (
    check(CheckType.SIZE, Outcome.FAIL, expected="S", actual="M"),
    check(CheckType.TOOL_CALLS, Outcome.FAIL, score=2 / 3, expected=["a", "b"], actual=["a"]),
    check(CheckType.RELEVANCE, name="relevance polite", expected="polite"),
    check(CheckType.RELEVANCE, Outcome.UNKNOWN, name="relevance kind", expected="kind", reason="no judge"),
    check(CheckType.ASSERTION, name="says hello", expected={"type": "contains", "value": "hello"}, reason="it does"),
)


def written(root: Path, plan: Plan, attempts: list[AttemptRecord], *cases: tuple[str, dict[str, Any]]) -> Path:
    """A run directory with the two files."""
    run = RunDirectory.create(root, run_id=plan.run_id)
    for one in attempts:
        run.append(evidence.ATTEMPTS, capture_attempt(one, level=plan.capture).to_line())
    suite = write_sessions(run.path / evidence.SUITE_FOLDER, dict(cases))
    with tempfile.TemporaryDirectory() as scratch:
        assert write_session_files(run, plan, suite=suite, scratch=Path(scratch))
    run.close()
    return run.path


def full_run(root: Path, capture: Capture = "metadata") -> Path:
    usage = Usage(input_tokens=7, output_tokens=5, cost_usd=0.25)
    attempts = [
        attempt("one", outcome=Outcome.FAIL, checks=CHECKS, trajectory=CALLS, texts=("hi", ANSWER), usage=usage),
        attempt("one", 2, outcome=Outcome.FAIL, outcome_class=OutcomeClass.AGENT_ERROR, reason="exit status 3"),
        attempt("two"),
    ]
    one = case("one", size="S", relevance=["polite", "kind"], assertions=[{"type": "contains", "value": "hello"}])
    return written(root, plan_of("one", "two", repeats=2, capture=capture), attempts, one, case("two"))


def sessions_of(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((path / evidence.SESSIONS_JSON).read_bytes())
    return loaded


def test_each_attempt_at_a_session_is_a_session_with_its_result(tmp_path: Path) -> None:
    sessions = sessions_of(full_run(tmp_path))["sessions"]
    assert [one["id"] for one in sessions] == [f"{RUN_ID}/one/1", f"{RUN_ID}/one/2", f"{RUN_ID}/two/1"]
    assert [one["title"] for one in sessions] == ["About one #1", "About one #2", "About two #1"]
    assert sessions[0]["evals"] == {
        "relevance": ["polite", "kind"],
        "size": "S",
        "assertions": [{"type": "contains", "value": "hello"}],
    }
    assert sessions[0]["eval_result"] == {
        "passed": False,
        "successes": ["assertions 1/1"],
        "failures": [
            "size expected S, got M",
            "tool calls score 0.67",
            "could not be told: relevance: kind (reason: no judge)",
        ],
        "error": "",
        "cost": 0.25,
        "output_tokens": 5,
        "checks": {
            "size": {"passed": False, "actual": "M", "expected": "S"},
            "tool_calls": {"passed": False, "score": 2 / 3},
            "relevance": {
                "passed": False,
                "passed_count": 1,
                "total": 2,
                "results": [
                    {"criterion": "polite", "passed": True, "reason": ""},
                    {"criterion": "kind", "passed": False, "reason": "no judge"},
                ],
            },
            "assertions": {
                "passed": True,
                "passed_count": 1,
                "total": 1,
                "results": [{"name": "says hello", "type": "contains", "passed": True, "reason": "it does"}],
            },
        },
    }
    assert sessions[1]["eval_result"]["failures"] == ["agent-error: exit status 3"]
    assert sessions[2]["eval_result"]["passed"] is True


def test_assertions_are_one_success_together_and_each_a_failure_as_docker_agent_tells_them(tmp_path: Path) -> None:
    checks = (
        check(CheckType.ASSERTION, name="says hello", reason="it does"),
        check(CheckType.ASSERTION, Outcome.FAIL, name="is short", reason="the text does not equal it"),
    )
    attempts = [attempt("one", outcome=Outcome.FAIL, checks=checks)]
    (told,) = sessions_of(written(tmp_path, plan_of("one"), attempts, case("one")))["sessions"]
    assert told["eval_result"]["successes"] == []
    assert told["eval_result"]["failures"] == ["assertion is short: the text does not equal it"]


def test_the_sums_count_each_repeat_once_and_one_that_never_started_as_an_error(tmp_path: Path) -> None:
    head = sessions_of(full_run(tmp_path))
    assert (head["name"], head["duration"]) == (RUN_ID, "2.5s")
    assert head["summary"] == {
        "total_evals": 4,
        "failed_evals": 2,
        "total_cost": 0.25,
        "sizes_passed": 0,
        "sizes_total": 1,
        "tools_f1_sum": 2 / 3,
        "tools_count": 1,
        "relevance_passed": 1,
        "relevance_total": 2,
        "assertions_passed": 1,
        "assertions_total": 1,
    }


def test_a_retry_is_a_session_too_and_only_the_last_try_counts(tmp_path: Path) -> None:
    lost = {"outcome": Outcome.UNKNOWN, "outcome_class": OutcomeClass.INFRASTRUCTURE, "reason": "lost"}
    attempts = [attempt("one", 1, repeat=1, **lost), attempt("one", 2, repeat=1, retry_of=1)]
    loaded = sessions_of(written(tmp_path, plan_of("one"), attempts, case("one")))
    assert [one["eval_result"]["error"] for one in loaded["sessions"]] == ["infrastructure: lost", ""]
    assert (loaded["summary"]["total_evals"], loaded["summary"]["failed_evals"]) == (1, 0)


def test_the_messages_are_the_users_then_the_calls_that_count_then_the_texts(tmp_path: Path) -> None:
    items = sessions_of(full_run(tmp_path, "payloads"))["sessions"][0]["messages"]
    chats = [item["message"]["message"] for item in items]
    assert [chat["role"] for chat in chats] == ["user", "assistant", "tool", "assistant", "assistant"]
    assert chats[1]["tool_calls"][0]["function"] == {"name": "lookup", "arguments": json.dumps({"id": "x" * 80})}
    assert (chats[2]["content"], chats[2]["tool_call_id"]) == (ANSWER, chats[1]["tool_calls"][0]["id"])
    assert [chat["content"] for chat in chats[3:]] == ["hi", ANSWER]
    assert {item["message"]["agent_name"] for item in items} == {"", "support"}
    assert all(item["message"]["agent_name"] == item["message"]["agentName"] for item in items)


def test_without_payloads_no_file_holds_a_text_of_the_agent(tmp_path: Path) -> None:
    path = full_run(tmp_path)
    for name in (evidence.SESSIONS_JSON, evidence.SESSIONS_DB):
        content = (path / name).read_bytes()
        assert b"a long answer" not in content
        assert b"x" * 80 not in content
        assert b"<270 bytes sha256:" in content


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    uri = f"file:{path / evidence.SESSIONS_DB}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as store:
        return store.execute(query).fetchall()


def test_the_store_is_one_whole_file_with_the_same_sessions(tmp_path: Path) -> None:
    path = full_run(tmp_path)
    sessions = sessions_of(path)["sessions"]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(path, "PRAGMA journal_mode") != [("wal",)]
    assert not [name for name in path.iterdir() if name.name.startswith("sessions.db-")]
    told = ("id", "title", "created_at", "cost", "input_tokens", "output_tokens")
    found = rows(path, "SELECT id, title, created_at, cost, input_tokens, output_tokens FROM sessions")
    assert found == [tuple(one[key] for key in told) for one in sessions]
    items = rows(path, "SELECT session_id, position, item_type, agent_name, message_json FROM session_items")
    assert [(one[0], one[1], one[2], one[3], json.loads(one[4])) for one in items] == [
        (one["id"], place, "message", item["message"]["agent_name"], item["message"]["message"])
        for one in sessions
        for place, item in enumerate(one["messages"])
    ]


def test_the_store_has_the_tables_that_docker_agent_looks_for(tmp_path: Path) -> None:
    path = full_run(tmp_path)
    columns = {
        table: [row[1] for row in rows(path, f"PRAGMA table_info({table})")]
        for table in ("migrations", "sessions", "session_items")
    }
    assert columns == {
        "migrations": ["id", "name", "description", "applied_at"],
        "sessions": [
            *("id", "created_at", "tools_approved", "input_tokens", "output_tokens", "title", "cost"),
            *("send_user_message", "max_iterations", "working_dir", "starred", "permissions", "agent_model_overrides"),
            *("custom_models_used", "thinking", "parent_id", "instruction_context", "safety_policy"),
        ],
        "session_items": [
            *("id", "session_id", "position", "item_type", "agent_name", "message_json", "implicit"),
            *("subsession_id", "summary_text", "first_kept_entry", "cost"),
        ],
    }
    assert rows(path, "SELECT count(*), max(id), max(name) FROM migrations") == [
        (24, 24, "024_add_safety_policy_column")
    ]
    # its reader takes none of them but the parent as NULL
    parent = columns["sessions"].index("parent_id")
    stored = rows(path, "SELECT * FROM sessions")
    assert {place for row in stored for place, value in enumerate(row) if value is None} == {parent}


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    one, two = full_run(tmp_path / "1"), full_run(tmp_path / "2")
    for name in (evidence.SESSIONS_JSON, evidence.SESSIONS_DB):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_a_run_without_any_attempt_has_both_files(tmp_path: Path) -> None:
    path = written(tmp_path, plan_of("one"), [], case("one"))
    assert sessions_of(path)["sessions"] == []
    assert rows(path, "SELECT count(*) FROM sessions") == [(0,)]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0s"), (7, "7ms"), (1500, "1.5s"), (61_000, "1m1s"), (3_600_000, "1h0m0s"), (3_723_040, "1h2m3.04s")],
)
def test_durations_are_written_as_go_writes_them(milliseconds: int, text: str) -> None:
    assert go_duration(milliseconds) == text


def test_a_session_that_is_not_kept_is_written_without_what_it_asked_and_expected(tmp_path: Path) -> None:
    attempts = [attempt("one"), attempt("too-large", texts=("an answer",))]
    path = written(tmp_path, plan_of("one", "too-large"), attempts, case("one", size="S"))
    one, other = sessions_of(path)["sessions"]
    assert (one["evals"]["size"], one["messages"][0]["message"]["message"]["content"]) == ("S", "hello")
    assert other["evals"] == {"relevance": []}
    assert [item["message"]["message"]["role"] for item in other["messages"]] == ["assistant"]


def test_a_suite_of_its_own_cases_has_neither_file(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, run_id="run")
    (run.path / "suite").mkdir()
    (run.path / "suite" / "cases.json").write_text('{"cases": []}')
    assert not write_session_files(run, plan_of("one"), suite=run.path / "suite", scratch=tmp_path)
    run.close()
    assert not list(run.path.glob("sessions.*"))
