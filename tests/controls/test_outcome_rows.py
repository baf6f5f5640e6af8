"""Each row of CONTRACT §4's outcome table on each adapter, on the process backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.attempt import AttemptRecord
from contracts.lines import RunnerStarted
from tests.controls.lab_processes import fixture_api, order_of, plan_of, run_suite, runner
from tests.fakes.outcome_rows import ADAPTERS, AGENTS, ROWS, Deed, case_id_of, cases_of, cells, write_outcome_rows

Work = Callable[[], Path]
WAITS = {"chat": ("talker", "slow"), "command": ("controls", "hangs"), "http": ("served", "hangs")}
"""An agent of each adapter and what it does while its world dies."""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return lambda: tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def suite(work: Work) -> Path:
    return write_outcome_rows(work() / "suite")


@pytest.fixture(scope="module")
def records(work: Work, suite: Path) -> dict[str, AttemptRecord]:
    """One run for each agent, with all of its cases."""
    found: dict[str, AttemptRecord] = {}
    for agent in AGENTS:
        found |= run_suite(suite, work=work(), agent=agent, cases=cases_of(agent)).records
    return found


@pytest.mark.parametrize(
    ("index", "adapter", "deed"),
    [pytest.param(*cell, id=f"{ROWS[cell[0]].what}-{cell[1]}") for cell in cells()],
)
def test_a_row_has_its_outcome_and_class(
    records: dict[str, AttemptRecord], index: int, adapter: str, deed: Deed
) -> None:
    record, row = records[case_id_of(index, deed)], ROWS[index]

    assert (record.outcome, record.outcome_class) == (row.outcome, row.outcome_class), f"{adapter}: {record.reason}"
    assert record.reason or row.outcome == "pass"


def test_every_row_says_something_of_every_adapter() -> None:
    assert {row.what: tuple(row.deeds) for row in ROWS} == {row.what: ADAPTERS for row in ROWS}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_when_the_fixture_api_dies_what_is_under_way_is_unknown_and_the_rest_not_run(
    work: Work, suite: Path, adapter: str
) -> None:
    agent, waits = WAITS[adapter]
    cases = sorted(cases_of(agent), key=lambda case: not case.endswith(waits))[:2]
    plan = plan_of(suite, agent=agent, cases=cases, concurrency=1)
    under_way, later = sorted(plan.cases, key=lambda case: not case.case_id.endswith(waits))
    unlimited = plan.conditions.limits.model_copy(update={"seconds": 0.0})
    plan = plan.model_copy(
        update={
            "cases": (under_way, later),
            "conditions": plan.conditions.model_copy(update={"limits": unlimited}),
        }
    )
    with fixture_api(suite) as api, runner(order_of(plan, api, work=work())) as running:
        for line in running.read():
            if isinstance(line, RunnerStarted):
                api.process.kill()
    seen = {line.record.case_id: (line.record.outcome, line.record.outcome_class) for line in running.attempts}

    assert seen == {under_way.case_id: ("unknown", "infrastructure"), later.case_id: ("unknown", "not-run")}
