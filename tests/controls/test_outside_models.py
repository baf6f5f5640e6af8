"""The chat agent on a model outside: the scripted model of another fixture API, through the provider library."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contracts.attempt import AttemptRecord
from contracts.outcome import Outcome, OutcomeClass
from tests.controls.lab_processes import ROOT, fixture_api, order_of, plan_of, run_order, run_suite
from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.model_service import completion, model_service
from tests.fakes.open_world import case
from tests.fakes.socket_server import silence, socket_server
from tests.fakes.suite_folder import SETTINGS, TOOL, SuiteFolder

USAGE = {"inputTokens": 7, "outputTokens": 5}
LOOKUP = {"name": "lookup_order", "arguments": {"order_id": "a-1"}}
RULES: list[dict[str, Any]] = [
    {
        "when": {"text": "^order", "turn": 1},
        "reply": {"text": "I look.", "toolCalls": [LOOKUP, {"name": "fly", "arguments": {}}], "usage": USAGE},
    },
    {"when": {"lastTool": "fly"}, "reply": {"toolCalls": [LOOKUP], "usage": USAGE}},
    {"when": {"lastTool": "lookup_order"}, "reply": {"text": "It is 5 euro.", "usage": USAGE}},
    {"when": {"text": "^thanks"}, "reply": {"text": "You are welcome.", "usage": USAGE}},
    {"when": {"text": "^loop"}, "reply": {"toolCalls": [LOOKUP], "usage": USAGE}},
    {"when": {"text": "^denied"}, "reply": {"error": {"status": 401}}},
    {"when": {"text": "^busy"}, "reply": {"error": {"status": 429, "headers": {"Retry-After": "30"}}}},
    {"when": {"text": "^broken"}, "reply": {"error": {"status": 500}}},
    {"when": {"text": "^too-large"}, "reply": {"error": {"status": 413}}},
    {"when": {"text": "^cut"}, "reply": {"text": "one two three", "cut": True}},
]
CALLS = [{"name": "lookup_order"}, {"name": "lookup_order"}]
CASES = [
    case(
        "talks",
        input=[{"role": "user", "content": "order a-1"}, {"role": "user", "content": "thanks"}],
        expect={
            "toolCalls": CALLS,
            "toolMatch": "superset",
            "assertions": [{"type": "equals", "value": "I look.\nIt is 5 euro.\nYou are welcome."}],
        },
    ),
    case("is-wrong", input="thanks", expect={"toolCalls": [{"name": "lookup_order"}]}),
    case("asks-for-too-much", input="loop", limits={"model_calls": 1}),
    *[case(name, input=name) for name in ("denied", "busy", "broken", "cut", "too-large")],
]
FAILURES = {
    "denied": "the model's service answered 401",
    "busy": "the model's service answered 429",
    "broken": "the model's service answered 500",
    "cut": "the model's service could not be reached",
}


def outside(url: str, *, model: str = "openai/support", more: str = "") -> str:
    return (
        SETTINGS
        + f'\n[agents.outside]\nadapter = "chat"\nprompt = "polite"\nmodel = "{model}"\n'
        + (f'model_url = "{url}"\n{more}')
    )


@dataclass(frozen=True)
class Both:
    """The same cases on the lab's own model and on one outside, which is the same."""

    own: dict[str, AttemptRecord]
    outside: dict[str, AttemptRecord]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = SuiteFolder(tmp_path_factory.mktemp("own") / "suite", cases=CASES, rules=RULES, tools=[TOOL])
    with FixtureProcess(folder.write()) as service:
        prefix = service.open("talks", model="scripted/support", prompt="polite", model_call_limit=1000)
        folder.settings = outside(f"http://127.0.0.1:{service.data_port}{prefix}/v1")
        suite = folder.write()
        work = tmp_path_factory.mktemp("work")
        yield Both(
            own=run_suite(suite, work=work, agent="support").records,
            outside=run_suite(suite, work=work, agent="outside").records,
        )


@pytest.mark.parametrize("case_id", ["talks", "is-wrong", "asks-for-too-much"])
def test_the_same_model_reached_either_way_gives_the_same_attempt(both: Both, case_id: str) -> None:
    own, other = both.own[case_id], both.outside[case_id]
    assert (own.outcome, own.outcome_class) == (other.outcome, other.outcome_class)
    assert (own.trajectory, own.trajectory_digest) == (other.trajectory, other.trajectory_digest)
    assert (own.texts, own.usage, own.checks) == (other.texts, other.usage, other.checks)


def test_the_outcomes_are_the_right_ones(both: Both) -> None:
    found = {name: (record.outcome, record.outcome_class) for name, record in both.outside.items()}
    assert found["talks"] == (Outcome.PASS, None)
    assert found["is-wrong"] == (Outcome.FAIL, None)
    assert found["asks-for-too-much"] == (Outcome.FAIL, OutcomeClass.LIMIT)
    usage = both.outside["talks"].usage
    assert (usage.model_calls, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (4, 28, 20, None)


@pytest.mark.parametrize("case_id", FAILURES)
def test_a_service_that_fails_is_the_providers_and_asked_once(both: Both, case_id: str) -> None:
    record = both.outside[case_id]
    assert (record.outcome, record.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.PROVIDER)
    assert record.reason == FAILURES[case_id]
    assert record.usage.model_calls == 1


def test_a_request_that_the_service_finds_wrong_is_the_agents_on_either_model(both: Both) -> None:
    for record in (both.own["too-large"], both.outside["too-large"]):
        assert (record.outcome, record.outcome_class) == (Outcome.FAIL, OutcomeClass.AGENT_ERROR)
        assert str(record.reason).endswith("answered 413")


def run_outside(folder: Path, settings: str, **agent_env: str) -> tuple[AttemptRecord, str]:
    """One attempt of `agents.outside`, and everything that the runner printed."""
    suite = SuiteFolder(folder / "suite", settings=settings).write()
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite, agent="outside"), api, work=folder)
        ran = run_order(order.model_copy(update={"agent_env": agent_env}))
    return ran.records["greets"], "".join(line.to_line() for line in ran.lines)


def test_the_key_comes_from_the_agents_environment_and_is_in_no_line(tmp_path: Path) -> None:
    with model_service(lambda _: completion("hello")) as service:
        settings = outside(service.url, model="own/some", more='auth = "MY_KEY"\n')
        record, printed = run_outside(tmp_path, settings, MY_KEY="a-secret-key")
    assert record.outcome is Outcome.PASS
    assert service.keys == ["Bearer a-secret-key"]
    assert "a-secret-key" not in printed


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"<html>private</html>", "no JSON"),
        (b'{"id": "private", "created": 1}', "missing or of another kind: choices, model, object"),
        (
            b'{"created": 1, "choices": [{"message": 1}], "usage": {"prompt_tokens": "private"}}',
            "missing or of another kind: id, choices.0.index, choices.0.message, model and 4 more",
        ),
    ],
)
def test_an_answer_that_is_none_is_the_providers(tmp_path: Path, answer: bytes, what: str) -> None:
    with model_service(lambda _: (200, answer)) as service:
        record, _ = run_outside(tmp_path, outside(service.url))
    assert (record.outcome, record.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.PROVIDER)
    assert record.reason == f"the model's service answered something that is no reply: {what}"


def test_a_model_outside_that_is_silent_is_the_providers(tmp_path: Path) -> None:
    with socket_server([silence, silence]) as service:
        settings = outside(f"{service.url}/v1") + "\n[limits]\nmodel_seconds = 0.5\n"
        record, _ = run_outside(tmp_path, settings)
    assert (record.outcome, record.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.PROVIDER)
    assert record.reason == "the model's service gave no answer within 0.5 s"


def test_a_run_on_the_scripted_model_loads_no_client_library(tmp_path: Path) -> None:
    suite = SuiteFolder(tmp_path / "suite").write()
    with fixture_api(suite) as api:
        order = order_of(plan_of(suite), api, work=tmp_path)
        argv = [sys.executable, "-X", "importtime", "-m", "runner", "attempts"]
        imports = tmp_path / "imports"
        with (
            imports.open("w") as log,
            subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as process,
        ):
            assert process.stdin
            assert process.stdout
            process.stdin.write(order.to_line().encode() + b"\n")
            process.stdin.flush()
            printed = process.stdout.read()
    loaded = imports.read_text()
    assert b'"outcome":"pass"' in printed
    assert "runner.agents.chat" in loaded
    assert [name for name in ("pydantic_ai", "openai", "anthropic", "httpx") if f" {name}" in loaded] == []
