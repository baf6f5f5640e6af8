"""The command line of docker-agent: approval, model, messages that look like options, the agent file with tools."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.hosting import HostEnd, HostStart
from contracts.order import FIXTURE_URL_MARK, DockerAgentOrder
from contracts.outcome import Outcome, OutcomeClass
from contracts.suite.settings import Limits
from contracts.tries import RETRIED
from runner.agents.docker_agent import LONGEST_ARGUMENT, DockerAgent, command_line, undeliverable
from runner.agents.interface import Assignment, EndKind
from runner.verdict import Happened, decide
from tests.fakes.assignments import ORIGIN, PREFIX, TOKEN, assignment_of, case_of
from tests.fakes.docker_agent_streams import TRANSFER, event, spends, text_of
from tests.fakes.scripted_host import ScriptedHost, ScriptedWatch, ended, out

WHERE = DockerAgentOrder(binary="/bin/docker-agent", folder="/configs", file="agent.yaml")
START = ("/bin/docker-agent", "run", "--exec", "--json")


def assignment(*messages: str, model: str | None = "openai/gpt", **agent: Any) -> Assignment:
    given = assignment_of(case=case_of(input=[{"role": "user", "content": one} for one in messages or ("hi",)]))
    plan = given.agent.model_copy(update={"adapter": "docker-agent", "model": model, **agent})
    return replace(given, agent=plan)


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        ({}, ("--yolo",)),
        ({"args": ("--safety", "strict")}, ("--safety", "strict")),
        ({"args": ("--safety=strict", "-d")}, ("--safety=strict", "-d")),
        ({"args": ("--yolo=false",)}, ("--yolo=false",)),
        ({"overrides_model": True}, ("--yolo", "--model", "openai/gpt")),
    ],
)
def test_calls_are_approved_unless_the_agents_arguments_say_how(
    agent: dict[str, Any], options: tuple[str, ...]
) -> None:
    assert command_line(assignment(**agent), WHERE) == ((*START, *options, "/configs/agent.yaml", "hi"), "")


def test_messages_that_look_like_options_or_like_standard_input_stay_messages() -> None:
    assert command_line(assignment("-5", "b"), WHERE)[0][5:] == ("--", "/configs/agent.yaml", "-5", "b")
    assert command_line(assignment("-"), WHERE)[0][5:] == ("/configs/agent.yaml", " -")


def test_one_message_that_is_too_long_goes_over_standard_input() -> None:
    long = "x" * (LONGEST_ARGUMENT + 1)
    assert command_line(assignment(long), WHERE) == ((*START, "--yolo", "/configs/agent.yaml", "-"), long)


WITH_TOOLS = WHERE.model_copy(update={"text": "agents: {}"})
LONG = "ä" * (LONGEST_ARGUMENT // 2 + 1)


@pytest.mark.parametrize(
    ("messages", "where", "words"),
    [
        (("a", LONG), WHERE, "message 2 of the case has 100002 bytes; docker-agent can be given 100000 bytes of one"),
        ((LONG,), WITH_TOOLS, "message 1 of the case has 100002 bytes; docker-agent can be given 100000 bytes of one"),
        (("b" * LONGEST_ARGUMENT,) * 11, WHERE, "the 11 messages of the case have 1100000 bytes"),
    ],
)
def test_messages_that_fit_in_no_argument_are_the_suites_and_nothing_starts(
    messages: tuple[str, ...], where: DockerAgentOrder, words: str
) -> None:
    host = ScriptedHost(events=[ended()])

    found = DockerAgent(host, watch=ScriptedWatch(), where=where, agent_env={}).run(assignment(*messages))

    assert words in (found.ending.reason or "")
    assert host.orders == []
    verdict = decide(Happened(ending=found.ending, expects_nothing=True))
    assert (verdict.outcome, verdict.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.SUITE)
    assert verdict.outcome_class not in RETRIED


def test_messages_that_fit_are_given() -> None:
    assert undeliverable(assignment(*("b" * LONGEST_ARGUMENT,) * 10), WHERE) is None
    assert undeliverable(assignment(LONG * 20), WHERE) is None


def order_of(where: DockerAgentOrder = WHERE, env: dict[str, str] | None = None) -> HostStart:
    host = ScriptedHost(events=[ended()])
    DockerAgent(host, watch=ScriptedWatch(), where=where, agent_env=env or {}).run(assignment())
    (order,) = host.orders
    assert isinstance(order, HostStart)
    return order


def test_telemetry_is_off_unless_e_says_otherwise_and_the_labs_variables_win() -> None:
    assert order_of().env["TELEMETRY_ENABLED"] == "false"
    env = order_of(env={"TELEMETRY_ENABLED": "true", "LAB_CASE_ID": "forged", "OPENAI_API_KEY": "k"}).env
    assert (env["TELEMETRY_ENABLED"], env["LAB_CASE_ID"], env["OPENAI_API_KEY"]) == ("true", "greets", "k")


def test_the_agent_file_with_tools_stands_beside_links_to_all_other_files(tmp_path: Path) -> None:
    configs, work = tmp_path / "configs", tmp_path / "work"
    (configs / "sub").mkdir(parents=True)
    work.mkdir()
    for name in ("agent.yaml", "a file.md", ".hidden", "sub/x"):
        (configs / name).write_text(name)
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nfor last; do :; done\ncat "$5"; printf "|%s|" "$last"; cat; ls -A "${5%/*}"\n')
    program.chmod(0o755)
    where = DockerAgentOrder(
        binary=str(program), folder=str(configs), file="agent.yaml", text=f"url: {FIXTURE_URL_MARK}/mcp\n"
    )
    order = order_of(where)
    done = subprocess.run(order.argv, input=order.stdin, cwd=work, capture_output=True, text=True, check=True)
    shown, said, names = done.stdout.split("|")
    assert (shown, said) == (f"url: {ORIGIN}{PREFIX}/mcp\n", "hi")
    assert names.split("\n")[:-1] == [".hidden", "a file.md", "agent.yaml", "sub"]
    assert (configs / "agent.yaml").read_text() == "agent.yaml"


@pytest.mark.parametrize(("calls", "kind"), [(3, EndKind.FINISHED), (4, EndKind.LIMIT)])
def test_more_model_calls_than_the_limit_end_it_whoever_serves_the_model(calls: int, kind: EndKind) -> None:
    host = ScriptedHost(events=[out(text_of(spends(0.1))) for _ in range(calls)], on_end=[ended("asked")])
    host.events = [*host.events, *([ended()] if kind is EndKind.FINISHED else [])]
    limited = replace(assignment(), limits=Limits(model_calls=3))

    found = DockerAgent(host, watch=ScriptedWatch(), where=WHERE, agent_env={}).run(limited)

    assert (found.ending.kind, found.usage.model_calls) == (kind, calls)
    assert found.ending.limit == ("model_calls" if kind is EndKind.LIMIT else None)
    assert any(isinstance(order, HostEnd) for order in host.orders) is (kind is EndKind.LIMIT)


def test_a_whole_stream_with_a_sub_agent_becomes_a_run_without_the_prefix() -> None:
    host = ScriptedHost(
        events=[out(text_of([*TRANSFER, event("new", at=TOKEN)])), out(TOKEN, stream="stderr"), ended()]
    )
    found = DockerAgent(host, watch=ScriptedWatch(), where=WHERE, agent_env={}).run(assignment())

    assert found.ending.kind is EndKind.FINISHED
    assert found.texts == ("It is blue. So: blue.",)
    assert found.usage.cost_usd == 1.75
    assert TOKEN not in repr(found)
