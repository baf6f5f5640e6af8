"""Served agents that are right, wrong, cut off, slow and lying: each gets its row of the outcome table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.lines import RunnerAttempt, RunnerRefused
from contracts.outcome import Outcome, OutcomeClass
from tests.controls.lab_processes import (
    PATIENCE_S,
    Ran,
    fixture_api,
    order_of,
    plan_of,
    run_order,
    run_suite,
    runner,
    wait_until_gone,
)
from tests.fakes.served_controls import CASES, CHAT_CASES, write_served

Work = Callable[[], Path]

FAILED, UNKNOWN, PASSED = Outcome.FAIL, Outcome.UNKNOWN, Outcome.PASS
ERROR, LIMIT = (FAILED, OutcomeClass.AGENT_ERROR), (FAILED, OutcomeClass.LIMIT)
EXPECTED = {
    "is-right": (PASSED, None),
    "streams": (PASSED, None),
    "echoes": (PASSED, None),
    "says-nothing": (FAILED, None),
    "answers-500": ERROR,
    "answers-429": ERROR,
    "redirects": ERROR,
    "answers-a-page": ERROR,
    "answers-nothing": ERROR,
    "answers-no-json": ERROR,
    "answers-no-events": ERROR,
    "answers-a-wrong-event": ERROR,
    "breaks-the-protocol": ERROR,
    "is-compressed": ERROR,
    "reports-an-error": ERROR,
    "blames-its-provider": (UNKNOWN, OutcomeClass.PROVIDER),
    "hangs-up": ERROR,
    "is-cut-off": ERROR,
    "is-cut-off-in-a-chunk": ERROR,
    "is-cut-off-without-a-length": ERROR,
    "speaks-no-http": ERROR,
    "hangs": LIMIT,
    "drips": LIMIT,
    "drips-its-head": LIMIT,
    "floods": LIMIT,
    "floods-one-document": LIMIT,
    "spends-too-much": LIMIT,
    "loops-on-tools": LIMIT,
    "loops-on-thoughts": LIMIT,
    "claims-a-call": (FAILED, None),
    "is-denied": (PASSED, None),
    "is-let-through": (FAILED, None),
    "meets-a-broken-suite": (UNKNOWN, OutcomeClass.SUITE),
    "tells-the-secret": (PASSED, None),
}
REASONS = {
    "answers-500": "it answered 500",
    "redirects": "it answered 302; redirects are not followed",
    "answers-a-page": "protocol broken, its reply holds no event",
    "answers-no-json": "protocol broken, its reply is neither JSON nor a stream of events",
    "answers-no-events": "protocol broken, its reply has no list `events`",
    "answers-a-wrong-event": "protocol broken, events[1] of its reply is no event",
    "hangs-up": "it gave no answer: Remote end closed connection without response",
    "is-cut-off-in-a-chunk": "its answer broke off",
    "is-cut-off-without-a-length": "protocol broken, its reply ends in the middle of an event",
    "hangs": "it went past its limit of 1 s",
    "floods": "it went past its limit of 1000000 bytes of output",
    "loops-on-thoughts": "it went past its limit of 20 tool calls",
}
EXPECTED_OF_CHAT = {
    "chats": (PASSED, None),
    "chats-its-request": (PASSED, None),
    "asks-its-user-to-call": ERROR,
    "answers-no-completion": ERROR,
    "answers-500": ERROR,
    "hangs": LIMIT,
    "floods-one-document": LIMIT,
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return lambda: tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def served(work: Work) -> Ran:
    return run_suite(write_served(work() / "suite", CASES), work=work(), concurrency=4)


@pytest.fixture(scope="module")
def chatty(work: Work) -> Ran:
    return run_suite(write_served(work() / "suite", CHAT_CASES), work=work(), concurrency=4, agent="chatty")


@pytest.mark.parametrize("case_id", EXPECTED)
def test_a_served_control_gets_its_row_of_the_outcome_table(served: Ran, case_id: str) -> None:
    record = served.records[case_id]

    assert (record.outcome, record.outcome_class) == EXPECTED[case_id], record.reason
    assert record.reason == REASONS.get(case_id, record.reason)


def test_every_served_control_has_a_row_and_the_suite_goes_on(served: Ran) -> None:
    assert set(served.records) == set(EXPECTED) == set(CASES)
    assert served.exit_code == 0


@pytest.mark.parametrize("case_id", ["hangs", "drips", "drips-its-head", "floods", "spends-too-much"])
def test_an_endless_answer_is_cut_when_its_limit_is_passed(served: Ran, case_id: str) -> None:
    assert served.records[case_id].duration_ms < 10_000


def test_what_it_said_before_a_cut_is_kept(served: Ran) -> None:
    assert {served.records[case_id].texts for case_id in ("drips", "floods", "is-cut-off-in-a-chunk")} == {("done",)}


def test_the_body_beside_a_bad_status_is_in_its_log_and_not_in_the_reason(served: Ran) -> None:
    assert served.records["answers-500"].log == "it is private"


def test_it_is_told_the_object_of_the_command_adapter_and_the_four_headers(served: Ran) -> None:
    task, headers, names = json.loads(served.records["echoes"].texts[1])

    assert set(task) == {
        *("caseId", "title", "attempt", "messages", "tools", "prompt", "policy", "fixtureUrl", "modelUrl"),
        *("model", "temperature", "seed", "clock"),
    }
    assert (task["caseId"], task["attempt"], task["messages"]) == ("echoes", 1, [{"role": "user", "content": "go"}])
    assert headers["x-eval-case"] == "echoes"
    assert headers["x-lab-attempt"] == "1"
    assert headers["x-lab-fixture-url"] == task["fixtureUrl"]
    assert headers["x-lab-model-url"] == task["modelUrl"]
    assert task["fixtureUrl"].endswith("/~<prefix>")
    assert "authorization" not in headers
    assert {"PORT", "HOST", "LAB_NOW", "EVAL_SEED", "TZ", "LANG"} <= set(names)
    assert not {"FIXTURE_URL", "LAB_CASE_ID"} & set(names)


def test_one_that_selects_by_header_gets_addresses_without_a_prefix(work: Work) -> None:
    suite = write_served(work() / "suite", {name: CASES[name] for name in ("is-right", "echoes")})
    ran = run_suite(suite, work=work(), select="header", agent="by-header")

    assert {record.outcome for record in ran.records.values()} == {PASSED}
    task, _, names = json.loads(ran.records["echoes"].texts[1])
    assert "~" not in task["fixtureUrl"] + task["modelUrl"]
    assert {"FIXTURE_URL", "MODEL_URL"} <= set(names)
    assert [row["tool"] for row in ran.journals["is-right"]] == ["lookup"]


@pytest.mark.parametrize("case_id", EXPECTED_OF_CHAT)
def test_an_agent_served_as_a_chat_endpoint_gets_its_row(chatty: Ran, case_id: str) -> None:
    record = chatty.records[case_id]

    assert (record.outcome, record.outcome_class) == EXPECTED_OF_CHAT[case_id], record.reason


def test_each_user_message_is_asked_with_the_conversation_so_far(chatty: Ran) -> None:
    record = chatty.records["chats"]

    assert record.texts == ("done with one", "done with two")
    # the path of each call tells how many messages it was asked with
    assert [call.arguments for call in record.trajectory] == [{"id": "1"}, {"id": "3"}]
    assert (record.usage.input_tokens, record.usage.output_tokens) == (6, 4)


def test_model_temperature_seed_and_most_tokens_are_passed(chatty: Ran) -> None:
    request = json.loads(chatty.records["chats-its-request"].texts[0].removeprefix("done "))

    assert request == {
        "model": "large",
        "temperature": 0.5,
        "seed": 0,
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "go"}],
    }


def test_no_record_or_journal_holds_the_secret_prefix(served: Ran) -> None:
    told = served.records["tells-the-secret"]
    assert told.texts[1].endswith("/~<prefix>/v1")


def guarded(work: Work, env: dict[str, str]) -> Ran:
    root = write_served(work() / "suite", {"is-right": CASES["is-right"]})
    with fixture_api(root) as api:
        order = order_of(plan_of(root, agent="guarded"), api, work=work())
        return run_order(order.model_copy(update={"agent_env": env}))


def test_one_that_demands_its_token_is_asked_with_it(work: Work) -> None:
    ran = guarded(work, {"DESK_TOKEN": "t0ken"})

    assert ran.records["is-right"].outcome is PASSED


def test_one_that_answers_without_credentials_is_refused_before_any_attempt(work: Work) -> None:
    ran = guarded(work, {"DESK_TOKEN": "t0ken", "GUARDS": "no"})

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("listener-open", 4)
    assert "/answer answers without credentials" in refused.message
    assert refused.found == ("status 200 for a request without an authorization header",)


def test_a_token_without_a_value_is_refused_by_name(work: Work) -> None:
    ran = guarded(work, {})

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("unset-variable", 2)
    assert "DESK_TOKEN" in refused.message


def test_a_service_that_cannot_be_started_is_refused_with_the_reason(work: Work) -> None:
    ran = run_suite(write_served(work() / "suite", {"is-right": {}}), work=work(), agent="missing")

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("agent-not-reachable", 4)
    assert "/nowhere/agent" in refused.found[0]


def test_when_the_service_dies_its_attempt_fails_and_the_others_are_not_run(work: Work) -> None:
    root = write_served(work() / "suite", {"is-right": CASES["is-right"], "dies": {}, "echoes": {}})
    ran = run_suite(root, work=work(), concurrency=1)

    assert ran.records["is-right"].outcome is PASSED
    died, later = ran.records["dies"], ran.records["echoes"]
    assert (died.outcome, died.outcome_class) == ERROR
    assert died.reason == "the served agent's process is gone: it exited with 3"
    assert (later.outcome, later.outcome_class) == (UNKNOWN, OutcomeClass.NOT_RUN)
    assert later.reason == died.reason


def test_a_service_that_is_not_there_is_refused_with_its_url(work: Work) -> None:
    settings = '[agents.away]\nadapter = "http"\nurl = "http://127.0.0.1:1/answer"\n'
    root = write_served(work() / "suite", {"is-right": {}}, settings=settings)
    plan = plan_of(root)
    with fixture_api(root) as api:
        hurried = plan.model_copy(update={"agent": plan.agent.model_copy(update={"start_seconds": 0.2})})
        ran = run_order(order_of(hurried, api, work=work()))

    (refused,) = ran.lines
    assert isinstance(refused, RunnerRefused)
    assert (refused.code, ran.exit_code) == ("agent-not-reachable", 4)
    assert "http://127.0.0.1:1/answer" in refused.message


def test_the_service_and_its_children_end_with_the_run(work: Work) -> None:
    ran = run_suite(write_served(work() / "suite", {"tells-its-process": {}}), work=work())

    for pid in json.loads(ran.records["tells-its-process"].texts[1]):
        wait_until_gone(pid)


def test_the_service_ends_when_the_driver_is_gone(work: Work) -> None:
    # longer than a busy machine takes to leave
    root = write_served(work() / "suite", {"tells-its-process": {}, "hangs": {"limits": {"seconds": 60}}})
    with fixture_api(root) as api, runner(order_of(plan_of(root, concurrency=1), api, work=work())) as running:
        first = next(line for line in running.read() if isinstance(line, RunnerAttempt))
        running.leave()
        assert running.process.wait(PATIENCE_S) != 0

    for pid in json.loads(first.record.texts[1]):
        wait_until_gone(pid)
