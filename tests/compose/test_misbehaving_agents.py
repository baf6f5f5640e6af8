"""Agents that crash, lie, hang or flood, and a fixture API that dies: CONTRACT §4 row by row, on both backends."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.compose.launching import FinishedRun, Labctl, labctl_of_checkout, told
from tests.compose.small_suites import small_suite, waiting_suite

pytestmark = pytest.mark.engine

BACKENDS = ("compose", "process")
FORBIDS = {"neverTools": ["lookup_order"]}
CASES: dict[str, dict[str, Any]] = {
    "behaves": {},
    "crashes": {},
    "exits-with-3": {},
    "reports-an-error": {},
    "breaks-the-protocol": {},
    "hangs": {"limits": {"seconds": 5}},  # long enough to have begun to ignore SIGTERM
    "leaves-a-child": {},
    "says-nothing": {},
    "claims-a-call": {"expect": {"toolCalls": [{"name": "lookup_order"}]}},
    "claims-a-forbidden-call": {"expect": FORBIDS},
    "hides-a-forbidden-call": {"expect": FORBIDS},
    "calls-too-often": {"limits": {"tool_calls": 3}},
    "floods": {},
}
VERDICTS: dict[str, tuple[str, str | None]] = {
    "behaves": ("pass", None),
    "crashes": ("fail", "agent-error"),
    "exits-with-3": ("fail", "agent-error"),
    "reports-an-error": ("fail", "agent-error"),
    "breaks-the-protocol": ("fail", "agent-error"),
    "hangs": ("fail", "limit"),
    "leaves-a-child": ("pass", None),
    "says-nothing": ("fail", None),
    "claims-a-call": ("fail", None),
    "claims-a-forbidden-call": ("fail", None),
    "hides-a-forbidden-call": ("fail", None),
    "calls-too-often": ("fail", "limit"),
    "floods": ("fail", "limit"),
}


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("misbehaving"))


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> str:
    cases = [{"id": name, **case} for name, case in CASES.items()]
    return str(small_suite(tmp_path_factory.mktemp("suite"), "misbehaving", cases=cases))


@pytest.fixture(scope="module")
def run(labctl: Labctl, backend: str, suite: str) -> FinishedRun:
    """One run of all of them, three at a time."""
    return labctl.run(suite, "--backend", backend, "--concurrency", "3")


def test_the_suite_goes_on_and_the_run_is_sealed(labctl: Labctl, run: FinishedRun) -> None:
    assert run.exit_code == 1, told(run)
    assert set(run.attempts) == set(CASES)
    verified = labctl.call("verify", str(run.folder))
    assert verified.returncode == 0, verified.stderr


def test_no_process_container_or_file_of_any_agent_is_left(run: FinishedRun) -> None:
    assert run.left == {}


@pytest.mark.parametrize("case", VERDICTS)
def test_outcome_and_class_are_those_of_the_contract(run: FinishedRun, case: str) -> None:
    assert run.verdict(case) == VERDICTS[case], run.attempts[case]


@pytest.mark.parametrize(
    ("case", "end"),
    [
        ("crashes", {"signal": int(signal.SIGSEGV), "reason": "exit"}),
        ("exits-with-3", {"exitCode": 3, "reason": "exit"}),
        ("reports-an-error", {"exitCode": 0, "reason": "exit"}),
        ("hangs", {"signal": int(signal.SIGKILL), "reason": "seconds", "strays": 1}),
        ("leaves-a-child", {"exitCode": 0, "reason": "exit", "strays": 1}),
        ("says-nothing", {"exitCode": 0, "reason": "exit"}),
        ("calls-too-often", {"reason": "tool_calls"}),
        ("floods", {"reason": "output"}),
    ],
)
def test_the_record_says_how_the_process_ended(run: FinishedRun, case: str, end: dict[str, Any]) -> None:
    said = run.attempts[case]["agentEnd"]
    assert {key: said.get(key) for key in end} == end


def test_one_that_ignores_sigterm_is_gone_a_short_grace_after_its_limit(run: FinishedRun) -> None:
    assert 5000 <= run.attempts["hangs"]["durationMs"] <= 15_000


def test_a_child_that_holds_the_pipe_does_not_hold_the_attempt(run: FinishedRun) -> None:
    assert run.attempts["leaves-a-child"]["durationMs"] <= 20_000


def test_a_claimed_call_is_shown_and_does_not_count(run: FinishedRun) -> None:
    (call,) = run.attempts["claims-a-call"]["trajectory"]
    assert (call["tool"], call["made"], call["claimed"], call["counts"]) == ("lookup_order", False, True, False)
    assert run.attempts["claims-a-call"]["toolCalls"] == 0


def test_a_call_that_was_not_claimed_is_shown_and_counts(run: FinishedRun) -> None:
    (call,) = run.attempts["hides-a-forbidden-call"]["trajectory"]
    assert (call["tool"], call["made"], call["claimed"], call["counts"]) == ("lookup_order", True, False, True)


@pytest.mark.parametrize(
    ("case", "check"),
    [
        ("says-nothing", "assertion"),
        ("claims-a-call", "tool-calls"),
        ("claims-a-forbidden-call", "never-tool"),
        ("hides-a-forbidden-call", "never-tool"),
    ],
)
def test_the_check_that_does_not_hold_is_named(run: FinishedRun, case: str, check: str) -> None:
    assert [each["type"] for each in run.attempts[case]["checks"] if each["outcome"] == "fail"] == [check]


def test_an_agent_that_cannot_be_started_is_unknown_and_infrastructure(
    labctl: Labctl, backend: str, suite: str
) -> None:
    run = labctl.run(suite, "--backend", backend, "--agent", "missing", "--case", "behaves")
    assert run.exit_code == 3, told(run)
    assert run.verdict("behaves") == ("unknown", "infrastructure")
    assert "/no/such/program" in run.attempts["behaves"]["reason"]
    assert labctl.call("verify", str(run.folder)).returncode == 0
    assert run.left == {}


def test_when_the_fixture_api_is_killed_what_is_finished_stays_and_the_rest_is_unknown(
    labctl: Labctl, backend: str, tmp_path: Path
) -> None:
    cases = ("first-1", "first-2", "slow-1", "slow-2", "later-1", "later-2")
    suite = waiting_suite(tmp_path / "suite", *cases)
    with labctl.started(str(suite), "--backend", backend, "--concurrency", "2") as live:
        live.until(lambda: live.agents_under_way() == ["slow-1", "slow-2"] and len(live.finished_cases()) == 2)
        live.kill_fixture_api(backend)
        run = live.wait()
    assert run.exit_code == 3, told(run)
    assert {case: run.verdict(case) for case in cases} == {
        **dict.fromkeys(cases[:2], ("pass", None)),
        **dict.fromkeys(cases[2:4], ("unknown", "infrastructure")),
        **dict.fromkeys(cases[4:], ("unknown", "not-run")),
    }
    summary = run.read("results.json")["summary"]
    assert {key: summary[key] for key in ("planned", "passed", "failed", "unknown")} == {
        "planned": 6,
        "passed": 2,
        "failed": 0,
        "unknown": 4,
    }
    verified = labctl.call("verify", str(run.folder))
    assert verified.returncode == 0, verified.stderr
    assert run.left == {}
