"""`--suite-timeout`: what is under way is ended and unknown, what comes later never starts, on every adapter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.lines import RunnerFinished, RunnerStarted
from contracts.outcome import Outcome, OutcomeClass
from runner.suite_time import CUT_OFF
from tests.controls.lab_processes import Ran, fixture_api, order_of, plan_of, run_order
from tests.fakes.control_suites import SAYS_DONE, write_controls
from tests.fakes.served_controls import write_served

SECONDS = 2.0
SLOW_CALL = {"toolCalls": [{"name": "lookup", "arguments": {"id": "slow"}}]}


def command(root: Path) -> str:
    write_controls(root, [{"id": "hangs", "expect": SAYS_DONE}, {"id": "is-right", "expect": SAYS_DONE}])
    return "controls"


def http(root: Path) -> str:
    write_served(root, {"hangs": {}, "is-right": {}})
    return "served"


def chat(root: Path) -> str:
    write_controls(
        root, [{"id": "hangs", "input": "loop", "expect": SAYS_DONE}, {"id": "is-right", "expect": SAYS_DONE}]
    )
    (root / "models" / "talker.json").write_text(json.dumps({"rules": [{"reply": SLOW_CALL}]}))
    return "talker"


@pytest.fixture(scope="module", params=[command, http, chat], ids=["command", "http", "chat"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    root, write = tmp_path_factory.mktemp("suite") / "suite", request.param
    assert callable(write)
    agent = write(root)
    with fixture_api(root) as api:
        plan = plan_of(root, agent=agent, concurrency=1)
        timed = plan.model_copy(update={"suite_timeout_seconds": SECONDS})
        return run_order(order_of(timed, api, work=tmp_path_factory.mktemp("work")))


def test_what_is_under_way_is_ended_and_nobody_can_tell(ran: Ran) -> None:
    record = ran.records["hangs"]
    assert (record.outcome, record.outcome_class, record.reason) == (
        Outcome.UNKNOWN,
        OutcomeClass.INFRASTRUCTURE,
        CUT_OFF,
    )
    assert record.checks == ()
    assert record.duration_ms < 30_000


def test_what_did_not_start_by_then_is_not_run(ran: Ran) -> None:
    record = ran.records["is-right"]
    assert (record.outcome, record.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.NOT_RUN)
    assert record.reason == "the suite's time of 2 s (--suite-timeout) was over"
    assert [line.case_id for line in ran.lines if isinstance(line, RunnerStarted)] == ["hangs"]


def test_the_runner_ends_as_always(ran: Ran) -> None:
    assert ran.exit_code == 0
    assert ran.lines[-1] == RunnerFinished(attempts=2)
