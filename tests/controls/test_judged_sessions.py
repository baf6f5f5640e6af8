"""docker-agent sessions in the shapes that its users have, with a judge: every number here was worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.compose.launching import FinishedRun, Labctl, labctl_of_checkout, told
from tests.fakes.docker_agent_streams import TRANSFER, Event, begins, called, ends, says, spends
from tests.fakes.docker_agent_suites import replay, with_program, write_agent
from tests.fakes.judged_suite import says as judge_says
from tests.fakes.judged_suite import scripted_judge
from tests.fakes.session_folder import old_style, said, session, write_sessions

VERDICTS = {
    "it reviewed": judge_says("pass"),
    "it flags the bug": judge_says("fail"),
    "nobody knows": {"text": "Well. On the one hand … PASS"},
}
SETUP = "apk add --no-cache github-cli"
"""What most sessions of others have, and what runs on no machine without a network."""


class Judged(NamedTuple):
    """A session, what the agent under test does, and what comes of it."""

    session: dict[str, Any]
    stream: dict[str, Any]
    outcome: tuple[str, str | None]
    f1: float | None = None
    size: tuple[str, str] | None = None
    """Expected and measured."""
    relevance: tuple[str, ...] = ()
    asserted: tuple[str, ...] = ()


def answer(*pieces: str, calls: tuple[str, ...] = (), cost: float = 0.25) -> list[Event]:
    """One turn: these calls, then this text."""
    made = [one for number, name in enumerate(calls) for one in called(name, {}, call_id=f"call_{number}")]
    return [*begins("go"), *made, *says(*pieces), *spends(cost), *ends()]


def asserts(*pairs: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"type": kind, "value": value} for kind, value in pairs]


def recorded(asked: str, *tools: str, **evals: Any) -> dict[str, Any]:
    return session(said("user", asked), said("assistant", "", tools=tools, agent="root"), **evals)


OLD = [old_style(one) for one in (said("user", "how many?"), said("assistant", "", tools=("list_directory",)))]
HANDED_ON = session(
    said("user", "ask the expert"),
    said("assistant", "", tools=("transfer_task",), agent="root"),
    {"sub_session": session(said("user", "look", implicit=True), said("assistant", "", tools=("read_file",)))},
    size="S",
    relevance=["it reviewed"],
    assertions=asserts(("equals", "It is blue. So: blue."), ("Contains", "blue"), ("cost_threshold", 1.75)),
)
TWO_TURNS = session(
    said("user", "list"),
    said("assistant", "", tools=("list", "list")),
    said("user", "now write"),
    said("assistant", "", tools=("write",)),
    size="M",
    assertions=asserts(("not_contains", "sorry"), ("tool_called", "shell")),
)
SESSIONS: dict[str, Judged] = {
    # 1 of 1 expected, 1 of 2 made: 2 * (1 * 1/2) / (1 + 1/2)
    "old-and-too-much": Judged(
        session(*OLD), replay(*answer("2", calls=("list_directory", "read_file"))), ("fail", None), f1=2 / 3
    ),
    "old-and-exact": Judged(session(*OLD), replay(*answer("2", calls=("list_directory",))), ("pass", None), f1=1.0),
    "reviews": Judged(
        session(said("user", "review"), setup=SETUP, relevance=["it reviewed"] * 2),
        replay(*answer("CRITICAL", calls=("shell",))),
        ("pass", None),
        relevance=("pass", "pass"),
    ),
    "misses-the-bug": Judged(
        session(said("user", "review"), setup=SETUP, relevance=["it reviewed", "it flags the bug"]),
        replay(*answer("APPROVE")),
        ("fail", None),
        relevance=("pass", "fail"),
    ),
    "cannot-be-told": Judged(
        recorded("review", "shell", relevance=["it reviewed", "nobody knows"]),
        replay(*answer("maybe", calls=("shell",))),
        ("unknown", "judge"),
        f1=1.0,
        relevance=("pass", "unknown"),
    ),
    # the agent's calls and the sub-agent's; 21 bytes; the last costs of both sessions, 1.0 and 0.75
    "handed-on": Judged(
        HANDED_ON,
        replay(*TRANSFER),
        ("pass", None),
        f1=1.0,
        size=("S", "S"),
        relevance=("pass",),
        asserted=("pass", "pass", "pass"),
    ),
    # list once and write once of 3 expected, and of 4 made: 2 * (2/3 * 1/2) / (2/3 + 1/2); 300 + 200 bytes in two turns
    "two-turns": Judged(
        TWO_TURNS,
        replay(*answer("x" * 300, calls=("list", "write")), *answer("y" * 200, calls=("write", "shell"), cost=0.5)),
        ("fail", None),
        f1=4 / 7,
        size=("M", "M"),
        asserted=("pass", "pass"),
    ),
    # 250 times two bytes
    "too-long": Judged(
        session(said("user", "briefly"), size="S", assertions=asserts(("STARTS_WITH", "ü"))),
        replay(*answer("ü" * 250)),
        ("fail", None),
        size=("S", "M"),
        asserted=("pass",),
    ),
    "too-dear": Judged(
        session(said("user", "cheaply"), assertions=asserts(("cost_threshold", "0.1"))),
        replay(*answer("done")),
        ("fail", None),
        asserted=("fail",),
    ),
    "expects-nothing": Judged(session(said("user", "hello")), replay(*answer("done")), ("unknown", "no-expectation")),
}
METRICS = {
    "toolF1Mean": (2 / 3 + 1 + 1 + 1 + 4 / 7) / 5,
    "sizePassRate": 2 / 3,
    "relevanceRate": 5 / 6,  # of those that could be told
    "assertionRate": 6 / 7,
    "failureRate": 5 / 8,
    "costUsd": 8 * 0.25 + 1.75 + 0.5,  # of two turns in one session the last
}


def write_suite(root: Path, judge_url: str, sessions: dict[str, Any]) -> Path:
    """The agent file with its sessions beside it; the path of the file."""
    judge = f'judge_model = "openai/judge"\njudge_url = "{judge_url}"\n'
    files = {"suite.toml": judge, "working_dirs/desk/notes": "of the suite\n", "results/old.json": "[]"}
    write_sessions(root / "evals", sessions, files=files)
    return write_agent(root, {name: one.stream for name, one in SESSIONS.items()})


@pytest.fixture(scope="module")
def labctl(tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("labctl"), has_engine=False)


@pytest.fixture(scope="module")
def judge_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scripted_judge(tmp_path_factory.mktemp("house") / "suite", VERDICTS) as url:
        yield url


@pytest.fixture(scope="module")
def run(labctl: Labctl, judge_url: str, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    sessions = {name: one.session for name, one in SESSIONS.items()}
    agent = write_suite(tmp_path_factory.mktemp("agents") / "desk", judge_url, sessions)
    flags = ("--agent", str(agent), "--backend", "process", "--no-setup", "--capture", "payloads")
    return labctl.run(*flags, env=with_program())


def of_type(attempt: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [check for check in attempt["checks"] if check["type"] == kind]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_judged_as_it_is_by_hand(run: FinishedRun, name: str) -> None:
    judged, attempt = SESSIONS[name], run.attempts[name]

    assert run.verdict(name) == judged.outcome, told(run)
    scores = [check["score"] for check in of_type(attempt, "tool-calls")]
    assert scores == pytest.approx([] if judged.f1 is None else [judged.f1], abs=1e-9)
    sizes = [(check["expected"], check["actual"]) for check in of_type(attempt, "size")]
    assert sizes == ([] if judged.size is None else [judged.size])
    assert tuple(check["outcome"] for check in of_type(attempt, "relevance")) == judged.relevance
    assert tuple(check["outcome"] for check in of_type(attempt, "assertion")) == judged.asserted


def test_the_sums_are_those_of_the_rows(run: FinishedRun) -> None:
    results = run.read("results.json")
    assert run.exit_code == 1
    assert {key: results["metrics"][key] for key in METRICS} == pytest.approx(METRICS, abs=1e-6)
    counts = {key: results["summary"][key] for key in ("planned", "passed", "failed", "unknown")}
    assert counts == {"planned": 10, "passed": 3, "failed": 5, "unknown": 2}


def test_sessions_json_says_the_same_in_the_words_of_docker_agent(run: FinishedRun) -> None:
    written = run.read("sessions.json")
    results = {one["id"].split("/")[1]: one["eval_result"] for one in written["sessions"]}
    assert {name for name, one in results.items() if one["passed"]} == {"old-and-exact", "reviews", "handed-on"}
    assert results["handed-on"]["cost"] == pytest.approx(1.75, abs=1e-9)
    sums = {
        "tools_f1_sum": 2 / 3 + 3 + 4 / 7,
        "tools_count": 5,
        "sizes_passed": 2,
        "sizes_total": 3,
        "relevance_passed": 5,
        "relevance_total": 7,
        "total_cost": METRICS["costUsd"],
    }
    assert {key: written["summary"][key] for key in sums} == pytest.approx(sums, abs=1e-9)


def test_a_skipped_setup_is_recorded_and_every_message_was_asked(run: FinishedRun) -> None:
    assert run.read("environment.json")["conditions"]["noSetup"] is True
    (line,) = (one for one in run.attempts["two-turns"]["log"].splitlines() if "replay_started" in one)
    assert json.loads(line)["argv"][-2:] == ["list", "now write"]
    assert run.left == {}


def test_without_containers_a_setup_or_a_folder_of_its_own_is_refused_by_session_and_key(
    labctl: Labctl, judge_url: str, tmp_path: Path
) -> None:
    sessions = {
        "reviews": SESSIONS["reviews"].session,
        "in-a-folder": session(said("user", "look"), working_dir="desk", size="S"),
        "in-an-image": session(said("user", "look"), image="an-image", size="S"),
        "plain": session(said("user", "look"), size="S"),
    }
    agent = write_suite(tmp_path / "desk", judge_url, sessions)
    run = labctl.run("--agent", str(agent), "--backend", "process", env=with_program())

    assert run.exit_code == 4, told(run)
    assert run.stderr.startswith("labctl: isolation-missing: ")
    for found in ('"reviews" has setup', '"in-a-folder" has working_dir', '"in-an-image" has image'):
        assert f"the case {found}" in run.stderr
    assert '"plain"' not in run.stderr
    assert not run.folder.exists()
