"""What an agent that is not the lab's own is told of its attempt: one object, and variables where it is a process."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.plan import Conditions
from contracts.record import Json
from runner.agents.interface import Assignment


def task_of(assignment: Assignment) -> dict[str, Json]:
    """The object of CONTRACT §4: the command adapter's standard input and the body of the http adapter's request."""
    case = assignment.case
    return {
        "caseId": case.id,
        "title": case.shown_title,
        "attempt": assignment.attempt,
        "messages": [message.to_json() for message in case.messages],
        "tools": [tool.to_json() for tool in assignment.tools],
        "prompt": assignment.prompt,
        "policy": assignment.policy,
        "fixtureUrl": assignment.fixture_url,
        "modelUrl": assignment.model_url,
        "model": assignment.agent.model,
        "temperature": assignment.agent.temperature,
        "seed": assignment.conditions.seed,
        "clock": assignment.conditions.clock,
    }


def agent_environment(assignment: Assignment, agent_env: Mapping[str, str]) -> dict[str, str]:
    """All variables of an attempt but PATH, HOME and TMPDIR; `agent_env` is what `-e` and the host's keys give."""
    return {**agent_env, **attempt_env(assignment)}


def attempt_env(assignment: Assignment) -> dict[str, str]:
    """The lab's variables for the process of one attempt."""
    return {
        "FIXTURE_URL": assignment.fixture_url,
        "MODEL_URL": assignment.model_url,
        "LAB_CASE_ID": assignment.case.id,
        "LAB_ATTEMPT": str(assignment.attempt),
        **({"TRACEPARENT": traceparent} if (traceparent := assignment.trace.traceparent) else {}),
        **run_env(assignment.conditions),
    }


def run_env(conditions: Conditions) -> dict[str, str]:
    """The lab's variables that are the same in every attempt of a run."""
    return {
        "LAB_NOW": conditions.clock,
        "EVAL_SEED": str(conditions.seed),
        "TZ": conditions.timezone,
        "LANG": conditions.locale,
    }
