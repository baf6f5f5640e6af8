"""Hostile agents on the process backend: which limits hold there, and that the run says which do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compose.launching import FinishedRun, labctl_of_checkout, told
from tests.compose.small_suites import hostile_suite

CASES: dict[str, dict[str, Any]] = {
    "steady": {"limits": {"seconds": 4}},
    "floods-lines": {},
    "floods-unbroken": {},
    "floods-stderr": {},
    "floods-stderr-unbroken": {},
    "orphans": {},
    "closes-its-output": {},
    "kills-its-warden": {},
}
LIMIT, PASS = ("fail", "limit"), ("pass", None)
VERDICTS = dict(zip(CASES, (LIMIT, LIMIT, LIMIT, LIMIT, LIMIT, PASS, PASS, ("unknown", "infrastructure")), strict=True))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    labctl = labctl_of_checkout(tmp_path_factory.mktemp("hostile"), has_engine=False)
    suite = hostile_suite(tmp_path_factory.mktemp("suite"), [{"id": name, **case} for name, case in CASES.items()])
    return labctl.run(str(suite), "--backend", "process", "--concurrency", "2", "--capture", "payloads")


def test_limits_of_time_and_output_hold_and_nothing_is_left(run: FinishedRun) -> None:
    assert {case: run.verdict(case) for case in run.attempts} == VERDICTS, told(run)
    assert (run.exit_code, run.is_sealed, run.left) == (1, True, {})


def test_thirty_orphans_that_hold_the_output_are_ended_and_counted(run: FinishedRun) -> None:
    assert run.attempts["orphans"]["agentEnd"]["strays"] == 30


def test_what_is_not_promised_is_said_before_the_first_attempt_and_recorded(run: FinishedRun) -> None:
    assert run.stderr.count("backend process isolates nothing: the agent runs as you") == 1
    assert "limits of time and output hold, none of memory, processes, CPUs or disk" in run.stderr
    assert run.read("environment.json")["notEnforced"] == ["memory_mb", "pids", "cpus"]
