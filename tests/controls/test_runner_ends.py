"""The death of every part that the runner depends on, and what it refuses before the first attempt."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.exits import Exit
from contracts.lines import RunnerFinished, RunnerRefused, RunnerStarted
from contracts.order import HostOverTcp
from contracts.outcome import Outcome, OutcomeClass
from contracts.pace import Pace
from tests.controls.lab_processes import (
    PATIENCE_S,
    ROOT,
    fixture_api,
    order_of,
    plan_of,
    run_order,
    runner,
    wait_until_gone,
)
from tests.fakes.control_suites import CASES, CHAT_CASES, slow_cases, write_controls

Work = Callable[[], Path]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return lambda: tmp_path_factory.mktemp("work")


@pytest.mark.parametrize("agent", ["talker", "controls"])
def test_when_the_fixture_api_dies_every_planned_case_still_has_a_line(work: Work, agent: str) -> None:
    rules = [
        {"when": {"lastTool": "lookup"}, "reply": {"text": "done"}},
        {"reply": {"toolCalls": [{"name": "lookup", "arguments": {"id": "slow"}}]}},
    ]
    suite = write_controls(work() / "suite", slow_cases(14))
    (suite / "models" / "talker.json").write_text(json.dumps({"rules": rules}))
    with (
        fixture_api(suite) as api,
        runner(order_of(plan_of(suite, agent=agent, concurrency=3), api, work=work())) as run,
    ):
        began = 0.0
        for _ in run.read():
            if len(run.attempts) == 3 and not began:
                time.sleep(0.3)
                began = time.monotonic()
                api.process.kill()
        assert run.process.wait(PATIENCE_S) == 0
        assert time.monotonic() - began < 20

    records = [attempt.record for attempt in run.attempts]
    classes = [record.outcome_class for record in records]
    started = sum(isinstance(line, RunnerStarted) for line in run.lines)
    assert len({record.case_id for record in records}) == 14
    assert [record.outcome for record in records[:3]] == [Outcome.PASS] * 3
    assert classes.count(OutcomeClass.INFRASTRUCTURE) >= 1
    assert classes.count(OutcomeClass.NOT_RUN) == 14 - started
    assert all(record.reason for record in records if record.outcome is not Outcome.PASS)
    assert run.lines[-1] == RunnerFinished(attempts=14)


def test_when_agent_host_dies_attempts_under_way_are_infrastructure_and_the_rest_not_run(work: Work) -> None:
    suite = write_controls(work() / "suite", slow_cases(10))
    with fixture_api(suite) as api, runner(order_of(plan_of(suite, concurrency=2), api, work=work())) as run:
        lives = True
        for line in run.read():
            # two may have finished before the next one starts
            if lives and isinstance(line, RunnerStarted) and run.attempts:
                (host,) = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
                os.kill(int(host), signal.SIGKILL)
                lives = False
        assert run.process.wait(PATIENCE_S) == 0

    records = [attempt.record for attempt in run.attempts]
    classes = [record.outcome_class for record in records]
    assert len(records) == 10
    finished = [record for record in records if record.outcome_class is None]
    assert 1 <= len(finished) <= 5  # others may end between the first one's line and the kill, on a busy machine
    # who notices first says it: the reader of its output, or the writer of the next order
    lost = {record.reason for record in records if record not in finished}
    assert all(str(reason).startswith("agent_host ") for reason in lost)
    assert 1 <= classes.count(OutcomeClass.INFRASTRUCTURE) <= 4
    assert classes.count(OutcomeClass.NOT_RUN) >= 3


def leave(running: subprocess.Popen[bytes]) -> None:
    assert running.stdin
    running.stdin.close()


@pytest.mark.parametrize(
    ("end", "exit_code"),
    [
        (leave, Exit.TERMINATED),
        (subprocess.Popen.terminate, Exit.TERMINATED),
        (lambda process: process.send_signal(signal.SIGINT), Exit.INTERRUPTED),
    ],
    ids=["stdin closed", "SIGTERM", "SIGINT"],
)
def test_when_the_driver_is_gone_or_says_so_everything_ends_at_once(
    work: Work, end: Callable[[subprocess.Popen[bytes]], None], exit_code: Exit
) -> None:
    marker = work() / "pid"
    suite = write_controls(work() / "suite", [{"id": "hangs", "expect": {"size": "S"}}])
    script = suite / "agents" / "controls.py"
    leaves_its_pid = f"def hangs():\n    open({str(marker)!r}, 'w').write(str(os.getpid()))"
    script.write_text(script.read_text().replace("def hangs():", leaves_its_pid))
    with fixture_api(suite) as api, runner(order_of(plan_of(suite), api, work=work())) as run:
        until = time.monotonic() + PATIENCE_S
        while not (marker.exists() and marker.read_text()):
            assert time.monotonic() < until
            time.sleep(0.02)

        began = time.monotonic()
        end(run.process)

        assert run.process.wait(PATIENCE_S) == exit_code
        wait_until_gone(int(marker.read_text()))
        assert time.monotonic() - began < 10


def test_a_suite_that_is_not_the_planned_one_is_refused_by_case(work: Work) -> None:
    suite = write_controls(work() / "suite", CHAT_CASES)
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite, agent="talker"), api, work=work())
        cases = json.loads((suite / "cases.json").read_text())
        cases["cases"][0]["input"] = "something else"
        (suite / "cases.json").write_text(json.dumps(cases))

        ran = run_order(order)

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("suite-invalid", 2)
    assert "talks" in refused.found[0]


def test_a_fixture_api_that_is_not_there_is_refused_after_the_time_for_starting(work: Work) -> None:
    suite = write_controls(work() / "suite", CHAT_CASES)
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite, agent="talker"), api, work=work())
    ran = run_order(order.model_copy(update={"startup_seconds": 0.3}))

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("stack-not-healthy", 4)
    assert order.control_url in refused.message


def test_an_agent_host_that_is_not_there_is_refused(work: Work) -> None:
    suite = write_controls(work() / "suite", CASES[:1])
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite), api, work=work())
        host = order.agent_host.model_copy(update={"argv": ("/nowhere/agent_host",)}) if order.agent_host else None
        ran = run_order(order.model_copy(update={"agent_host": host}))

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("agent-host-missing", 4)


def test_an_order_that_is_none_is_refused() -> None:
    ran = run_order('{"plan": 7}')

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("internal-error", 70)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_an_agent_host_in_a_container_of_its_own_is_spoken_to_over_tcp_and_ends_with_the_runner(work: Work) -> None:
    suite = write_controls(work() / "suite", [case for case in CASES if case["id"] in {"is-right", "crashes"}])
    port = free_port()
    program = str(ROOT / "agent_host" / "__main__.py")
    argv = [sys.executable, program, "--host", "127.0.0.1", "--listen", str(port), "--work", str(work())]
    with fixture_api(suite) as api, subprocess.Popen(argv) as host:
        try:
            order = order_of(plan_of(suite), api, work=work())
            ran = run_order(order.model_copy(update={"agent_host": HostOverTcp(host="127.0.0.1", port=port)}))

            assert {case_id: record.outcome_class for case_id, record in ran.records.items()} == {
                "is-right": None,
                "crashes": OutcomeClass.AGENT_ERROR,
            }
            assert host.wait(PATIENCE_S) == 0
        finally:
            host.kill()


def test_a_chat_run_imports_nothing_that_it_does_not_need() -> None:
    heavy = {"jsonschema", "re2", "rich", "junitparser", "fastapi", "jsonpatch", "ledger", "asyncio", "runner.hosting"}
    code = f"import sys, runner.serving, runner.agents.chat; print(sorted({heavy!r} & set(sys.modules)))"
    argv = [sys.executable, "-c", code]

    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("goes_on", [False, True])
def test_once_the_driver_says_hold_no_attempt_begins_until_it_says_otherwise(work: Work, goes_on: bool) -> None:
    suite = write_controls(work() / "suite", slow_cases(3))
    plan = plan_of(suite, concurrency=1).model_copy(update={"suite_timeout_seconds": None if goes_on else 6.0})
    with fixture_api(suite) as api, runner(order_of(plan, api, work=work())) as run:
        for line in run.read():
            if isinstance(line, RunnerStarted) and not run.attempts:
                run.tell(Pace(hold=True))
            if goes_on and len(run.attempts) == 1:
                run.tell(Pace(hold=False))
        assert run.process.wait(PATIENCE_S) == 0

    classes = [attempt.record.outcome_class for attempt in run.attempts]
    assert classes == ([None] * 3 if goes_on else [None, OutcomeClass.NOT_RUN, OutcomeClass.NOT_RUN])
    assert sum(isinstance(line, RunnerStarted) for line in run.lines) == (3 if goes_on else 1)
