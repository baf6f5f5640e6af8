"""The command adapter against a scripted host: what the agent is told, and every way in which it can end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts.control import AttemptBreach
from contracts.hosting import AgentFailed, HostEnd, HostStart
from contracts.suite.settings import Limits
from runner.agents import following
from runner.agents.command import CommandAgent
from runner.agents.interface import AgentRun, EndKind
from runner.hosting import Event, HostGone
from runner.world import WorldLostError
from tests.fakes.assignments import LOOKUP, ORIGIN, PREFIX, TOKEN, UNBOUND, assignment_of, case_of
from tests.fakes.scripted_host import SESSION, ScriptedHost, ScriptedWatch, ended, out

SAID = out('{"type": "message", "text": "done"}\n')
CALL = {"type": "tool_call", "arguments": {}}


def run(*events: Event, watch: ScriptedWatch | None = None, on_end: tuple[Event, ...] = (), **fields: Any) -> AgentRun:
    host = ScriptedHost(events=events, on_end=on_end)
    agent = CommandAgent(host, watch=watch or ScriptedWatch(), argv=("agent",), agent_env={})
    return agent.run(assignment_of(**fields))


def start_of(**fields: Any) -> HostStart:
    host = ScriptedHost(events=[ended()])
    env = {"OPENAI_API_KEY": "k", "LAB_CASE_ID": "forged"}
    CommandAgent(host, watch=ScriptedWatch(), argv=("python3", "x.py"), agent_env=env).run(assignment_of(**fields))
    (order,) = host.orders
    assert isinstance(order, HostStart)
    return order


def test_the_environment_is_the_labs_and_what_e_names_and_nothing_else() -> None:
    assert start_of().env == {
        "FIXTURE_URL": f"{ORIGIN}{PREFIX}",
        "MODEL_URL": f"{ORIGIN}{PREFIX}/v1",
        "LAB_CASE_ID": "greets",
        "LAB_ATTEMPT": "1",
        "LAB_NOW": "2026-09-01T12:00:00Z",
        "EVAL_SEED": "1701",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "OPENAI_API_KEY": "k",
    }


def test_stdin_is_one_object_with_every_key_of_the_contract() -> None:
    case = case_of(title="Says hello", input=[{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])

    task = json.loads(start_of(case=case, tools=(LOOKUP,), prompt="p", policy="q").stdin)

    assert task == {
        "caseId": "greets",
        "title": "Says hello",
        "attempt": 1,
        "messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
        "tools": [LOOKUP],
        "prompt": "p",
        "policy": "q",
        "fixtureUrl": f"{ORIGIN}{PREFIX}",
        "modelUrl": f"{ORIGIN}{PREFIX}/v1",
        "model": "scripted/support",
        "temperature": 0.0,
        "seed": 1701,
        "clock": "2026-09-01T12:00:00Z",
    }


def test_what_the_agent_does_not_have_is_null() -> None:
    task = json.loads(start_of(model=None).stdin)

    assert (task["prompt"], task["policy"], task["model"]) == (None, None, None)


def test_the_host_gets_the_limits_of_the_attempt() -> None:
    order = start_of(limits=Limits(seconds=7, output_bytes=99))

    assert (order.seconds, order.output_bytes, order.argv) == (7, 99, ("python3", "x.py"))
    assert start_of(limits=Limits(seconds=0)).seconds is None


def test_a_clean_exit_is_finished() -> None:
    found = run(SAID, ended())

    assert found.ending.kind is EndKind.FINISHED
    assert found.texts == ("done",)
    assert found.agent_end is not None
    assert (found.agent_end.exit_code, found.agent_end.reason) == (0, "exit")


def test_an_agent_that_prints_nothing_is_finished_and_said_nothing() -> None:
    found = run(ended())

    assert (found.ending.kind, found.texts, found.log) == (EndKind.FINISHED, (), None)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((SAID, ended(exit_code=3)), "it exited with 3"),
        ((SAID, ended(exit_code=None, signal=11)), "it was ended by SIGSEGV"),
        ((SAID, ended(exit_code=None, signal=250)), "it was ended by signal 250"),
        (
            (out('{"type": "error", "message": "private"}\n'), SAID, ended()),
            "it reported an error; its log has the message",
        ),
        (
            (out('{"type": "message"}\n'), ended()),
            "protocol broken, output line 1: message, no text in `text`",
        ),
        (
            (out('{"type": "error", "message": "x", "class": "provider"}'), ended()),
            "it reported an error; its log has the message",
        ),
    ],
)
def test_what_the_agent_does_wrong_is_its_error(events: tuple[Event, ...], reason: str) -> None:
    found = run(*events)

    assert (found.ending.kind, found.ending.reason) == (EndKind.AGENT_ERROR, reason)


@pytest.mark.parametrize("model", [None, "openai/gpt"])
def test_a_provider_that_failed_is_believed_when_the_model_is_outside(model: str | None) -> None:
    event = out('{"type": "error", "message": "429", "class": "provider"}\n')

    assert run(event, ended(exit_code=1), model=model).ending.kind is EndKind.PROVIDER
    both = run(event, out('{"type": "error", "message": "mine"}\n'), ended(), model=model)
    assert both.ending.kind is EndKind.AGENT_ERROR


@pytest.mark.parametrize(("reason", "limit"), [("seconds", "seconds"), ("output", "output")])
def test_the_hosts_limits_are_limits(reason: str, limit: str) -> None:
    found = run(SAID, ended(reason, exit_code=None, signal=9))

    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, limit)
    assert found.agent_end is not None
    assert found.agent_end.reason == reason


@pytest.mark.parametrize("limit", ["tool_calls", "model_calls"])
def test_a_limit_of_requests_ends_the_agent(limit: str) -> None:
    breach = AttemptBreach.model_validate({"limit": limit})
    stopped = (ended("asked", exit_code=None, signal=15),)

    found = run(SAID, watch=ScriptedWatch(breach), on_end=stopped)

    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, limit)
    assert found.agent_end is not None
    assert found.agent_end.reason == limit


def test_a_watch_that_ends_with_the_attempt_changes_nothing() -> None:
    assert run(SAID, ended(), watch=ScriptedWatch(AttemptBreach())).ending.kind is EndKind.FINISHED


def test_money_over_the_limit_ends_the_agent() -> None:
    spent = '{"type": "usage", "inputTokens": 1, "outputTokens": 1, "costUsd": 0.6}\n'

    found = run(out(spent), out(spent), on_end=(ended("asked"),), limits=Limits(cost_usd=1.0))

    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, "cost")
    assert found.usage.cost_usd == 1.2


def test_a_limit_that_the_last_line_passes_counts_though_the_agent_was_gone() -> None:
    spent = '{"type": "usage", "inputTokens": 1, "outputTokens": 1, "costUsd": 2}'

    assert run(out(spent), ended(), limits=Limits(cost_usd=1.0)).ending.limit == "cost"


def test_events_of_unbound_tools_count_for_the_limit_and_those_of_bound_ones_do_not() -> None:
    claims = [out(json.dumps({**CALL, "name": name}) + "\n") for name in ("think", "lookup_order", "think")]
    tools, limits = (LOOKUP, UNBOUND), Limits(tool_calls=1)

    assert run(*claims[:2], ended(), tools=tools, limits=limits).ending.kind is EndKind.FINISHED
    found = run(*claims, on_end=(ended("asked"),), tools=tools, limits=limits)
    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, "tool_calls")


def test_a_flood_of_claims_of_bound_tools_is_ended_too() -> None:
    claims = [out(json.dumps({**CALL, "name": "lookup_order"}) + "\n")] * 21
    limits = Limits(tool_calls=1)

    assert run(*claims[:20], ended(), tools=(LOOKUP,), limits=limits).ending.kind is EndKind.FINISHED
    found = run(*claims, on_end=(ended("asked"),), tools=(LOOKUP,), limits=limits)
    assert (found.ending.kind, found.ending.limit) == (EndKind.LIMIT, "tool_calls")


@pytest.mark.parametrize(
    "events",
    [
        (AgentFailed(op="failed", id=SESSION, message="no such file"),),
        (SAID, HostGone(reason="agent_host ended")),
        (SAID, ended("supervisor-lost", exit_code=None)),
    ],
)
def test_what_the_lab_does_wrong_is_infrastructure(events: tuple[Event, ...]) -> None:
    assert run(*events).ending.kind is EndKind.INFRASTRUCTURE


def test_an_agent_is_ended_when_its_world_is_lost() -> None:
    watch = ScriptedWatch(WorldLostError("the fixture API does not answer any more"))

    found = run(SAID, watch=watch, on_end=(ended("asked", exit_code=None, signal=15),))

    assert (found.ending.kind, found.ending.reason) == (
        EndKind.INFRASTRUCTURE,
        "the fixture API does not answer any more",
    )


def test_a_host_that_never_says_the_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "HOST_SLACK_S", -following.GRACE_S)
    host = ScriptedHost(events=[SAID])

    found = CommandAgent(host, watch=ScriptedWatch(), argv=("agent",), agent_env={}).run(
        assignment_of(limits=Limits(seconds=0.05))
    )

    assert found.ending.kind is EndKind.INFRASTRUCTURE
    assert host.orders[-1] == HostEnd(id=SESSION)


def test_an_agent_that_is_over_its_limit_is_asked_to_end_once() -> None:
    host = ScriptedHost(events=[out('{"type": "usage", "inputTokens": 1, "outputTokens": 1, "costUsd": 2}\n')] * 3)
    host.on_end = (ended("asked"),)

    CommandAgent(host, watch=ScriptedWatch(), argv=("agent",), agent_env={}).run(
        assignment_of(limits=Limits(cost_usd=1.0))
    )

    assert [type(order) for order in host.orders] == [HostStart, HostEnd]


def test_stderr_and_other_lines_are_the_log_without_the_prefix() -> None:
    found = run(out(f"at {TOKEN[:9]}", stream="stderr"), out(f"{TOKEN[9:]}\n", stream="stderr"), out("hi\n"), ended())

    assert found.log == "at <prefix>\nhi\n"
    assert TOKEN not in repr(found)
