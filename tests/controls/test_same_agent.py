"""The refund desk as a chat loop, as a program and as a service: one trajectory, one outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.attempt import AttemptRecord
from tests.controls.lab_processes import SAMPLE, Ran, fixture_api, order_of, plan_of, run_order

AGENTS = ("support", "desk", "served-desk")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    def run(agent: str, work: Path) -> Ran:
        with fixture_api(SAMPLE) as api:
            return run_order(order_of(plan_of(SAMPLE, agent=agent), api, work=work))

    return {agent: run(agent, tmp_path_factory.mktemp(agent)) for agent in AGENTS}


def seen(record: AttemptRecord) -> dict[str, object]:
    return {
        "outcome": record.outcome,
        "checks": [(check.name, check.outcome) for check in record.checks],
        "calls": [(call.tool, call.arguments, call.status, call.made, call.counts) for call in record.trajectory],
        "trajectory": record.trajectory_digest,
        "state": record.state_digest,
    }


def test_program_and_service_leave_the_same_records_rows_and_texts(runs: dict[str, Ran]) -> None:
    program, service = runs["desk"], runs["served-desk"]

    assert len(program.records) == len(plan_of(SAMPLE).cases)
    for case_id, record in program.records.items():
        assert seen(service.records[case_id]) == seen(record)
        assert service.records[case_id].texts == record.texts
    assert service.journals == program.journals


def test_the_chat_loop_has_the_same_outcomes_checks_and_calls(runs: dict[str, Ran]) -> None:
    for case_id, record in runs["support"].records.items():
        chat, program = seen(record), seen(runs["desk"].records[case_id])
        assert chat == program, case_id
