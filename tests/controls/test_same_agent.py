"""The refund desk as a chat loop, a program, a service and a chat endpoint: one trajectory, one outcome."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from contracts.attempt import AttemptRecord
from contracts.outcome import Outcome
from tests.controls.lab_processes import SAMPLE, Ran, fixture_api, order_of, plan_of, run_order
from tests.fakes import chat_desk

SERVICES = ("served-desk", chat_desk.NAME)
AGENTS = ("support", "desk", *SERVICES)


@pytest.fixture(scope="module", params=[SAMPLE.name, "without-refunds"])
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample suite, which a good clerk passes; and one that forbids what a good clerk does."""
    root = chat_desk.with_chatting_desk(SAMPLE, tmp_path_factory.mktemp("suites") / request.param)
    if root.name != SAMPLE.name:
        cases = json.loads((root / "cases.json").read_text())
        for case in cases["cases"]:
            case["expect"]["neverTools"] = ["issue_refund"]
        (root / "cases.json").write_text(json.dumps(cases))
    return root


@pytest.fixture(scope="module")
def runs(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    def run(agent: str, work: Path) -> Ran:
        with fixture_api(suite) as api:
            return run_order(order_of(plan_of(suite, agent=agent), api, work=work))

    return {agent: run(agent, tmp_path_factory.mktemp(agent)) for agent in AGENTS}


def seen(record: AttemptRecord) -> dict[str, object]:
    return {
        "outcome": record.outcome,
        "class": record.outcome_class,
        "checks": [(check.name, check.outcome, check.score) for check in record.checks],
        "calls": [(call.tool, call.arguments, call.status, call.made, call.counts) for call in record.trajectory],
        "trajectory": record.trajectory_digest,
        "state": record.state_digest,
    }


@pytest.mark.parametrize("agent", SERVICES)
def test_program_and_service_leave_the_same_records_rows_and_texts(runs: dict[str, Ran], agent: str) -> None:
    program, service = runs["desk"], runs[agent]

    assert len(program.records) == len(plan_of(SAMPLE).cases)
    for case_id, record in program.records.items():
        assert seen(service.records[case_id]) == seen(record)
        assert service.records[case_id].texts == record.texts
    assert service.journals == program.journals


def test_the_chat_loop_has_the_same_outcomes_checks_and_calls(runs: dict[str, Ran]) -> None:
    assert runs["support"].records.keys() == runs["desk"].records.keys()
    for case_id, record in runs["support"].records.items():
        assert seen(record) == seen(runs["desk"].records[case_id]), case_id


def test_cases_pass_and_fail(runs: dict[str, Ran], suite: Path) -> None:
    found = Counter(record.outcome for record in runs["desk"].records.values())
    assert set(found) == ({Outcome.PASS} if suite.name == SAMPLE.name else {Outcome.PASS, Outcome.FAIL})
