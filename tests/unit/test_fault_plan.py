"""The digest of a fault plan, and the network faults that an agent could never meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.fault_plan import cases_with_toxics, refuse_faults_out_of_reach, with_fault_plan
from contracts.plan import AgentPlan, Conditions
from contracts.suite.case import Case
from driver.agent_choice import ChosenAgent
from driver.agent_file import read_agent_file
from driver.fault_reach import refuse_faults_of, refuse_model_out_of_the_stack
from tests.fakes.assignments import DIGEST, case_of, conditions_of_test

RESET = {"type": "reset_peer"}
ON_MODEL = {"type": "latency", "attributes": {"latency": 5}, "target": "model"}
SPOILT = {"route": "read-order", "kind": "empty"}


def faulted(*, network: list[Any] | None = None, responses: list[Any] | None = None, case: str = "greets") -> Case:
    return case_of(id=case, faults={"network": network or [], "responses": responses or []})


def agent(**fields: Any) -> AgentPlan:
    return AgentPlan(**{"name": "desk", "adapter": "command", "model": "scripted/support", "digest": DIGEST, **fields})


def conditions(*profiles: str) -> Conditions:
    return conditions_of_test().model_copy(update={"profiles": profiles})


def digest(*cases: Case) -> str | None:
    return with_fault_plan(conditions("fault"), cases).fault_plan_digest


def test_only_the_profile_fault_has_a_plan_and_an_empty_one_has_a_digest_too() -> None:
    assert with_fault_plan(conditions(), [faulted(network=[RESET])]).fault_plan_digest is None
    assert digest(case_of()) == digest()
    assert digest(case_of()) is not None


def test_the_digest_changes_with_every_word_of_a_fault_and_with_the_case_that_has_it() -> None:
    cases = [
        faulted(network=[RESET]),
        faulted(network=[{**RESET, "stream": "upstream"}]),
        faulted(network=[{**RESET, "attributes": {"timeout": 1}}]),
        faulted(network=[RESET], case="leaves"),
        faulted(responses=[SPOILT]),
        faulted(responses=[{**SPOILT, "skip": 1}]),
        faulted(network=[RESET], responses=[SPOILT]),
    ]
    assert len({digest(case) for case in cases}) == len(cases)
    assert digest(*cases[:1], case_of(id="other")) == digest(*cases[:1])


def test_the_fault_proxy_is_needed_by_toxics_under_the_profile_alone() -> None:
    cases = [faulted(network=[RESET], case="cut"), faulted(responses=[SPOILT], case="spoilt"), case_of(id="clean")]

    assert cases_with_toxics(cases, ("fault",)) == ("cut",)
    assert cases_with_toxics(cases, ("observe",)) == ()


@pytest.mark.parametrize(
    ("chosen", "case", "words"),
    [
        (agent(select="header"), faulted(network=[RESET]), 'select = "header"'),
        (agent(model=None), faulted(network=[ON_MODEL]), "the agent declares none"),
        (agent(model="openai/gpt"), faulted(network=[ON_MODEL]), "asked at its provider, not at MODEL_URL"),
        (
            agent(model="own/x", model_url="https://llm/v1"),
            faulted(network=[ON_MODEL]),
            "https://llm/v1 is no plain HTTP",
        ),
    ],
)
def test_what_an_agent_could_never_meet_is_refused_with_the_case(chosen: AgentPlan, case: Case, words: str) -> None:
    with pytest.raises(LabError) as caught:
        refuse_faults_out_of_reach(chosen, [case_of(id="clean"), case])

    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.BAD_USAGE, 2)
    (found,) = caught.value.found
    assert found.place == "greets"
    assert words in found.text


@pytest.mark.parametrize(
    ("chosen", "case"),
    [
        (agent(select="header"), faulted(responses=[SPOILT])),
        (agent(), faulted(network=[ON_MODEL, RESET])),
        (agent(model=None), faulted(network=[RESET])),
        (agent(model="own/x", model_url="http://llm:8000/v1"), faulted(network=[ON_MODEL])),
    ],
)
def test_everything_else_is_taken(chosen: AgentPlan, case: Case) -> None:
    refuse_faults_out_of_reach(chosen, [case])


def test_every_case_is_named_at_once() -> None:
    with pytest.raises(LabError) as caught:
        refuse_faults_out_of_reach(agent(select="header"), [faulted(network=[RESET], case=name) for name in "abc"])

    assert [found.place for found in caught.value.found] == ["a", "b", "c"]


@pytest.mark.parametrize(("base_url", "is_taken"), [("${env.MODEL_URL}", True), ("https://api.example/v1", False)])
def test_a_docker_agent_s_models_have_to_be_asked_at_model_url(tmp_path: Path, base_url: str, is_taken: bool) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(
        "agents:\n  root: {model: own, instruction: Help.}\n"
        f'models:\n  own: {{provider: openai, model: m, base_url: "{base_url}"}}\n'
    )
    file = read_agent_file(path, shown="agent.yaml", place="--agent")
    chosen = ChosenAgent(agent(adapter="docker-agent", model="openai/m", file="agent.yaml"), file=file)
    case = faulted(network=[ON_MODEL])

    refuse_faults_of(chosen, [case], profiles=())
    if is_taken:
        refuse_faults_of(chosen, [case], profiles=("fault",))
        return
    with pytest.raises(LabError) as caught:
        refuse_faults_of(chosen, [case], profiles=("fault",))
    assert 'agent.yaml agents.root.model: "openai/m" is not asked at MODEL_URL' in str(caught.value)


@pytest.mark.parametrize(
    ("backend", "url", "is_taken"),
    [
        ("process", "http://127.0.0.1:9/v1", True),
        ("compose", "http://llm:9/v1", True),
        ("compose", "http://h.example/v1", False),
    ],
)
def test_on_compose_a_faulted_model_is_a_service_of_the_stack(backend: Any, url: str, is_taken: bool) -> None:
    plan, cases = agent(model="own/x", model_url=url), [faulted(network=[ON_MODEL])]

    refuse_model_out_of_the_stack(plan, cases, profiles=(), backend=backend)
    if is_taken:
        refuse_model_out_of_the_stack(plan, cases, profiles=("fault",), backend=backend)
        return
    with pytest.raises(LabError) as caught:
        refuse_model_out_of_the_stack(plan, cases, profiles=("fault",), backend=backend)
    assert "the fault proxy has no way to the model at h.example" in str(caught.value)
