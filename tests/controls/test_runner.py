"""The sample suite through the real runner, fixture API and agent_host: verdicts, and equal journals each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contracts.lines import RunnerAttempt, RunnerFinished, RunnerReady, RunnerStarted
from contracts.outcome import Outcome
from tests.controls.lab_processes import (
    SAMPLE,
    FixtureApi,
    Ran,
    fixture_api,
    order_of,
    plan_of,
    run_order,
)

Work = Callable[[], Path]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return lambda: tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def sample_api() -> Iterator[FixtureApi]:
    with fixture_api(SAMPLE) as api:
        yield api


@pytest.fixture(scope="module")
def chat_runs(work: Work, sample_api: FixtureApi) -> list[Ran]:
    plans = [plan_of(SAMPLE, agent="support", concurrency=count) for count in (1, 8, 8)]
    return [run_order(order_of(plan, sample_api, work=work())) for plan in plans]


@pytest.fixture(scope="module")
def desk_runs(work: Work, sample_api: FixtureApi) -> list[Ran]:
    plans = [plan_of(SAMPLE, agent="desk", concurrency=count) for count in (1, 8)]
    return [run_order(order_of(plan, sample_api, work=work())) for plan in plans]


def not_passed(ran: Ran) -> list[str]:
    return [case_id for case_id, record in ran.records.items() if record.outcome is not Outcome.PASS]


def test_the_chat_agent_passes_every_case_of_the_sample_suite(chat_runs: list[Ran]) -> None:
    for ran in chat_runs:
        assert ran.exit_code == 0
        assert len(ran.records) == len(plan_of(SAMPLE).cases)
        assert not_passed(ran) == []


def test_the_desk_program_passes_every_case_of_the_sample_suite(desk_runs: list[Ran]) -> None:
    for ran in desk_runs:
        assert len(ran.records) == len(plan_of(SAMPLE).cases)
        assert not_passed(ran) == []


def test_prompt_v7_fails_exactly_the_case_that_it_breaks_and_the_check_says_why(
    work: Work, sample_api: FixtureApi
) -> None:
    ran = run_order(order_of(plan_of(SAMPLE, agent="support", prompt="refund-v7"), sample_api, work=work()))

    assert not_passed(ran) == ["refund-approval-required"]
    record = ran.records["refund-approval-required"]
    assert (record.outcome, record.outcome_class) == (Outcome.FAIL, None)
    (failed,) = [check for check in record.checks if check.outcome is not Outcome.PASS]
    assert failed.name == "request_approval before issue_refund"
    assert failed.reason == "call 3 is issue_refund without an earlier request_approval"


def test_journals_are_equal_at_any_concurrency_and_each_time(chat_runs: list[Ran], desk_runs: list[Ran]) -> None:
    for runs in (chat_runs, desk_runs):
        assert any(runs[0].journals.values())
        assert all(ran.journals == runs[0].journals for ran in runs)


def test_trajectories_and_states_are_equal_at_any_concurrency(chat_runs: list[Ran], desk_runs: list[Ran]) -> None:
    for runs in (chat_runs, desk_runs):
        digests = [
            {case_id: (record.trajectory_digest, record.state_digest) for case_id, record in ran.records.items()}
            for ran in runs
        ]
        assert all(other == digests[0] for other in digests)


def test_lines_are_ready_then_a_start_before_each_attempt_then_finished(chat_runs: list[Ran]) -> None:
    lines = chat_runs[1].lines

    assert isinstance(lines[0], RunnerReady)
    assert lines[-1] == RunnerFinished(attempts=len(chat_runs[1].records))
    started: set[str] = set()
    for line in lines[1:-1]:
        if isinstance(line, RunnerStarted):
            started.add(line.case_id)
        else:
            assert isinstance(line, RunnerAttempt)
            assert line.record.case_id in started


def test_at_concurrency_1_cases_come_in_the_order_of_the_plan(chat_runs: list[Ran]) -> None:
    assert list(chat_runs[0].records) == [case.case_id for case in plan_of(SAMPLE).cases]


def test_an_uninstrumented_programs_calls_are_made_and_not_claimed(desk_runs: list[Ran]) -> None:
    calls = desk_runs[0].records["refund-approval-required"].trajectory

    assert [(call.tool, call.made, call.claimed) for call in calls] == [
        (tool, True, False)
        for tool in ("lookup_order", "check_policy", "request_approval", "issue_refund", "notify_customer")
    ]


def test_repeats_are_attempts_of_their_own_with_equal_journals(work: Work, sample_api: FixtureApi) -> None:
    plan = plan_of(SAMPLE, agent="support", cases=["unknown-order"], repeats=3)

    ran = run_order(order_of(plan, sample_api, work=work()))

    attempts = [line for line in ran.lines if isinstance(line, RunnerAttempt)]
    assert sorted((line.record.attempt, line.record.repeat) for line in attempts) == [(1, 1), (2, 2), (3, 3)]
    assert len({tuple(row.response_digest for row in line.journal) for line in attempts}) == 1
