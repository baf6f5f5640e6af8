"""Which variables reach an agent, and what is recorded of them."""

from __future__ import annotations

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.lab_variables import LAB_VARIABLES
from driver.agent_env import resolve_agent_env, without_values
from runner.agents.task import attempt_env
from tests.fakes.assignments import assignment_of


def test_an_explicit_value_wins_over_the_host_and_is_kept_whole() -> None:
    env = resolve_agent_env(["KEY=a,b=c"], host={"KEY": "host"}, secret=(), not_secret=())
    assert env.values == {"KEY": "a,b=c"}


@pytest.mark.parametrize("named", [["KEY=mine", "KEY"], ["KEY", "KEY=mine"], ["KEY=yours", "KEY", "KEY=mine"]])
@pytest.mark.parametrize("host", [{}, {"KEY": "host"}])
def test_an_explicit_value_wins_wherever_it_stands(named: list[str], host: dict[str, str]) -> None:
    if named[0] == "KEY" and not host:
        host = {"KEY": ""}  # else the first is an error, as it is alone
    assert resolve_agent_env(named, host=host, secret=(), not_secret=()).values == {"KEY": "mine"}


def test_a_bare_key_takes_the_hosts_value() -> None:
    env = resolve_agent_env(["KEY"], host={"KEY": "host", "OTHER": "x"}, secret=(), not_secret=())
    assert env.values == {"KEY": "host"}


def test_an_empty_explicit_value_is_a_value() -> None:
    assert resolve_agent_env(["KEY="], host={}, secret=(), not_secret=()).values == {"KEY": ""}


def test_all_keys_without_a_value_are_named_at_once() -> None:
    with pytest.raises(LabError) as caught:
        resolve_agent_env(["ONE", "TWO"], host={}, secret=(), not_secret=())
    assert caught.value.code is ErrorCode.UNSET_VARIABLE
    assert "ONE, TWO" in caught.value.message


def test_a_name_that_is_empty_is_refused() -> None:
    with pytest.raises(LabError) as caught:
        resolve_agent_env(["=value"], host={}, secret=(), not_secret=())
    assert caught.value.code is ErrorCode.BAD_USAGE


@pytest.mark.parametrize("argument", ["MY-KEY=s3cr3t", "=s3cr3t", "KEY=s3cr3t\0"])
def test_a_refused_argument_is_shown_by_its_name_and_never_with_its_value(argument: str) -> None:
    with pytest.raises(LabError) as caught:
        resolve_agent_env([argument], host={}, secret=(), not_secret=())
    assert "s3cr3t" not in str(caught.value)
    assert repr(argument.partition("=")[0]) in str(caught.value)


def test_provider_keys_of_the_host_are_forwarded_and_other_tokens_are_not() -> None:
    host = {"OPENAI_API_KEY": "sk-1", "GITHUB_TOKEN": "gh", "AWS_SECRET_ACCESS_KEY": "aws"}
    assert resolve_agent_env([], host=host, secret=(), not_secret=()).values == {"OPENAI_API_KEY": "sk-1"}


def test_values_are_secret_unless_said_otherwise_and_only_then_digested() -> None:
    env = resolve_agent_env(["A=one1", "B=two2"], host={}, secret=(), not_secret=("B",))
    recorded = env.recorded()
    assert recorded["A"] == "secret"
    assert recorded["B"].startswith("sha256:")
    assert env.secrets == {"A": "one1"}


def test_what_the_suite_calls_secret_stays_secret() -> None:
    env = resolve_agent_env(["A=one1"], host={}, secret=("A",), not_secret=("A",))
    assert env.secrets == {"A": "one1"}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["run", "-e", "KEY=v", "x"], ("run", "-e", "KEY", "x")),
        (["run", "-eKEY=v"], ("run", "-eKEY")),
        (["run", "--env", "KEY=v=w"], ("run", "--env", "KEY")),
        (["run", "--env=KEY=v"], ("run", "--env=KEY")),
        (["run", "--evidence", "a=b"], ("run", "--evidence", "a=b")),
        (["run", "-e", "KEY"], ("run", "-e", "KEY")),
    ],
)
def test_the_recorded_command_line_has_no_value_of_e(given: list[str], shown: tuple[str, ...]) -> None:
    assert without_values(given) == shown


@pytest.mark.parametrize("name", LAB_VARIABLES)
def test_a_name_that_the_lab_sets_itself_is_refused_with_all_such_names(name: str) -> None:
    for argument in (f"{name}=x", name):
        with pytest.raises(LabError) as caught:
            resolve_agent_env(["A=b", argument], host={name: "y"}, secret=(), not_secret=())
        assert caught.value.code is ErrorCode.BAD_USAGE
        assert caught.value.message == f"-e names {name}, which the lab sets itself"
        assert all(one in str(caught.value.expected) for one in LAB_VARIABLES)


def test_every_variable_that_the_lab_gives_an_attempt_is_one_of_its_names() -> None:
    assert attempt_env(assignment_of()).keys() <= set(LAB_VARIABLES)


@pytest.mark.parametrize(
    ("named", "host"),
    [(["KEY=s3cr3t\udcff"], {}), (["KEY"], {"KEY": "s3cr3t\udcff"}), ([], {"OPENAI_API_KEY": "s3cr3t\udcff"})],
    ids=["given", "of the host", "a provider's key"],
)
def test_a_value_that_is_not_utf8_is_refused_by_its_name(named: list[str], host: dict[str, str]) -> None:
    with pytest.raises(LabError) as caught:
        resolve_agent_env(named, host=host, secret=(), not_secret=())
    assert caught.value.code is ErrorCode.BAD_USAGE
    assert "KEY is not UTF-8" in caught.value.message
    assert "s3cr3t" not in str(caught.value)
