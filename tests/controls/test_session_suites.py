"""docker-agent sessions from end to end: labctl, the real fixture API, runner and agent processes, and a seal."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.session_folder import said, session, write_sessions

ROOT = Path(__file__).resolve().parents[2]
SECRET = "correct-horse-battery-staple"
AGENT = """\
import json, os, sys

order = json.load(sys.stdin)
asked = [message["content"] for message in order["messages"]]
for name in asked[-1].split():
    print(json.dumps({"type": "tool_call", "name": name, "arguments": {"of": order["caseId"]}}))
print(json.dumps({"type": "message", "text": f"{len(asked)} turns; " + os.environ.get("TOKEN", "") * 5}))
print(json.dumps({"type": "usage", "inputTokens": 3, "outputTokens": 2, "costUsd": 0.5}))
sys.exit(3 if "crash" in asked[-1] else 0)
"""
SETTINGS = """\
[agents.script]
adapter = "command"
command = ["python3", "{suite}/agent.py"]

[limits]
seconds = 60
"""


def recorded(asked: str, *tools: str, title: str = "", **evals: Any) -> dict[str, Any]:
    """A session in which the agent called these tools; the agent under test calls those that it is asked for."""
    return session(said("user", asked), said("assistant", "", tools=tools, agent="root"), title=title, **evals)


HANDED_ON = session(
    said("user", "first"),
    said("assistant", "", tools=("transfer_task",)),
    {"sub_session": session(said("user", "go", implicit=True), said("assistant", "", tools=("read", "read")))},
    said("user", "transfer_task read read write"),
    title="Two turns, one of them handed on",
)
SESSIONS: dict[str, Any] = {
    "exact": recorded(
        "read list",
        "list",
        "read",
        title=f"Of {SECRET}",
        size="S",
        assertions=[{"type": "Contains", "value": "1 turns"}],
    ),
    "Größe ✓": recorded("read list write list read", "list", "read", "read", title="A part of them"),
    "none-of-them": recorded("write", "read"),
    "handed-on": HANDED_ON,
    "idle": recorded("nothing"),
    "crash": recorded("crash"),
    "talks": recorded("read", "read", assertions=[{"type": "cost_threshold", "value": "0.4"}]),
}
F1 = {
    "exact": 1.0,
    # 3 of the 3 expected ones, 3 of 5 made ones: 2 * (3/5 * 1) / (3/5 + 1)
    "Größe ✓": 0.75,
    "none-of-them": 0.0,
    # 3 of 3 and 3 of 4: 2 * (3/4 * 1) / (3/4 + 1)
    "handed-on": 6 / 7,
    "talks": 1.0,
}
OUTCOMES = {
    "exact": ("pass", None),
    "Größe ✓": ("fail", None),
    "none-of-them": ("fail", None),
    "handed-on": ("fail", None),
    "idle": ("unknown", "no-expectation"),
    "crash": ("fail", "agent-error"),
    "talks": ("fail", None),
}


def labctl(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line with its own exit status."""
    code = "from driver.cli.main import main; main()"
    argv = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)


def run(suite: Path, *flags: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
    done = labctl("run", "--backend", "process", "--evidence", suite.parent / "runs", *flags, suite, cwd=suite.parent)
    assert done.returncode in {0, 1, 3}, done.stderr
    return suite.parent / done.stdout.splitlines()[-1], done


def first_attempts(path: Path) -> dict[str, dict[str, Any]]:
    cases = json.loads((path / "results.json").read_text())["cases"]
    return {case["caseId"]: case["attempts"][0] for case in cases}


def scores(path: Path) -> dict[str, float]:
    return {
        case_id: check["score"]
        for case_id, attempt in first_attempts(path).items()
        for check in attempt["checks"]
        if check["type"] == "tool-calls"
    }


@pytest.fixture(scope="module")
def evals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"suite.toml": SETTINGS, "agent.py": AGENT, "results/old.json": "[]"}
    return write_sessions(tmp_path_factory.mktemp("sessions") / "evals", SESSIONS, files=files)


@pytest.fixture(scope="module")
def finished(evals: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    return run(evals, "-e", f"TOKEN={SECRET}")


def test_sessions_are_judged_as_docker_agent_judges_them(
    finished: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    path, done = finished
    attempts = first_attempts(path)
    assert {name: (one["outcome"], one.get("class")) for name, one in attempts.items()} == OUTCOMES
    assert scores(path) == pytest.approx(F1, abs=1e-9)
    assert done.returncode == 1


def test_the_run_is_sealed_with_the_session_files_in_it(
    finished: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    path, _ = finished
    assert labctl("verify", path, cwd=path).returncode == 0
    summed = subprocess.run(["sha256sum", "-c", "COMPLETE"], cwd=path, capture_output=True, text=True, check=False)
    assert summed.returncode == 0
    assert {"sessions.json: OK", "sessions.db: OK"} <= set(summed.stdout.splitlines())
    assert sorted(one.name for one in path.glob("sessions*")) == ["sessions.db", "sessions.json"]


def test_the_session_files_say_the_same_as_the_results(
    finished: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    path, _ = finished
    written = json.loads((path / "sessions.json").read_text())
    results = {one["id"].split("/")[1]: one["eval_result"] for one in written["sessions"]}
    assert {name: one["passed"] for name, one in results.items()} == {
        name: outcome == "pass" for name, (outcome, _) in OUTCOMES.items()
    }
    told = {
        name: one["checks"]["tool_calls"]["score"] for name, one in results.items() if "tool_calls" in one["checks"]
    }
    assert told == pytest.approx(F1, abs=1e-9)
    assert written["summary"]["tools_f1_sum"] == pytest.approx(1 + 0.75 + 0 + 6 / 7 + 1, abs=1e-9)
    assert written["summary"]["total_cost"] == pytest.approx(3.5, abs=1e-9)
    assert results["crash"]["error"].startswith("agent-error: ")
    with closing(sqlite3.connect(f"file:{path / 'sessions.db'}?mode=ro&immutable=1", uri=True)) as store:
        assert store.execute("SELECT count(*) FROM sessions").fetchone() == (7,)
        titles = [title for (title,) in store.execute("SELECT title FROM sessions ORDER BY title")]
    assert "A part of them" in titles


@pytest.mark.parametrize("capture", ["metadata", "payloads"])
def test_no_file_of_the_run_holds_a_secret_and_only_payloads_hold_what_the_agent_said(
    evals: Path, capture: str
) -> None:
    path, _ = run(evals, "--capture", capture, "-e", f"TOKEN={SECRET}", "--case", "exact", "--run-id", f"run-{capture}")
    for one in (one for one in path.rglob("*") if one.is_file()):
        assert SECRET.encode() not in one.read_bytes(), one
    for name in ("sessions.json", "sessions.db"):
        assert (b"1 turns; [redacted:TOKEN]" in (path / name).read_bytes()) == (capture == "payloads")


def test_what_an_import_made_of_them_is_judged_the_same(
    evals: Path, finished: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    native = evals.parent / "native"
    done = labctl("cases", "import", evals, "--to", native, cwd=evals.parent)
    assert (done.returncode, done.stdout) == (0, f"{native}\n")
    assert 'the session "Größe ✓" is the case "grosse"' in done.stderr
    assert "left out: idle: expects nothing" in done.stderr
    assert labctl("cases", "lint", native, cwd=evals.parent).returncode == 0
    assert labctl("cases", "import", evals, "--to", native, cwd=evals.parent).returncode == 2
    path, _ = run(native, "--run-id", "run-native")
    assert not (path / "sessions.json").exists()

    def judged(attempts: dict[str, dict[str, Any]]) -> dict[str, Any]:
        ids = {"Größe ✓": "grosse"}
        told = ("name", "type", "outcome", "score", "expected")
        return {
            ids.get(name, name): (one["outcome"], [{key: check.get(key) for key in told} for check in one["checks"]])
            for name, one in attempts.items()
            if name not in {"idle", "crash"}
        }

    assert judged(first_attempts(path)) == judged(first_attempts(finished[0]))


def test_cases_and_lint_take_a_folder_of_sessions(evals: Path) -> None:
    listed = labctl("cases", evals, "--json", cwd=evals.parent)
    rows = json.loads(listed.stdout)
    assert [row["id"] for row in rows] == sorted(SESSIONS)
    assert (
        labctl("cases", "lint", evals, cwd=evals.parent).stdout == f"{evals}: 7 cases, 0 routes, 0 tools: no problem\n"
    )


@pytest.mark.parametrize(
    ("name", "files", "named"),
    [
        ("with-a-list", {"good.json": json.dumps(session(size="S")), "bad.json": "[1]"}, "with-a-list/bad.json"),
        ("of-nothing", {"notes.txt": "a"}, "of-nothing"),
        ("not-there", None, "not-there"),
    ],
)
def test_a_folder_that_cannot_be_run_is_refused_by_name_and_nothing_is_created(
    tmp_path: Path, name: str, files: dict[str, str] | None, named: str
) -> None:
    if files is not None:
        write_sessions(tmp_path / name, {}, files=files)
    before = sorted(tmp_path.rglob("*"))
    for arguments in (("run", "--backend", "process", name), ("cases", name), ("cases", "import", name, "--to", "new")):
        done = labctl(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert named in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
