"""Limits merge to the stricter one, and conditions say what the suite declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.planning import attempt_limits, conditions_of, effective_limits, resolve_agent
from contracts.suite.case import Case
from contracts.suite.loading import load_suite
from contracts.suite.settings import Limits
from tests.fakes.suite_folder import CASE, SuiteFolder


def case(**limits: float) -> Case:
    return Case.model_validate({**CASE, "limits": limits}, strict=False)


@pytest.mark.parametrize(("timeout", "seconds"), [(None, 30.0), (5.0, 5.0), (900.0, 900.0), (0.0, 0.0)])
def test_a_timeout_flag_outweighs_the_suites_seconds(timeout: float | None, seconds: float) -> None:
    assert effective_limits(Limits(seconds=30.0), timeout=timeout).seconds == seconds


def test_without_any_limit_an_attempt_has_600_seconds() -> None:
    assert effective_limits(Limits(), timeout=None).seconds == 600.0


@pytest.mark.parametrize(("own", "whole", "seconds"), [(5.0, 30.0, 5.0), (60.0, 30.0, 30.0), (60.0, 0.0, 60.0)])
def test_a_cases_own_seconds_always_hold_too(own: float, whole: float, seconds: float) -> None:
    assert attempt_limits(Limits(seconds=whole), case(seconds=own)).seconds == seconds


def test_the_stricter_of_each_limit_holds() -> None:
    limits = attempt_limits(Limits(tool_calls=5, model_calls=5), case(tool_calls=0, model_calls=9, cost_usd=0.5))
    assert (limits.tool_calls, limits.model_calls, limits.cost_usd) == (0, 5, 0.5)
    assert attempt_limits(Limits(cost_usd=0.1), case(cost_usd=0.5)).cost_usd == 0.1


def test_a_case_without_limits_changes_none() -> None:
    limits = Limits(seconds=3.0)
    assert attempt_limits(limits, case()) is limits


def test_conditions_carry_label_and_digest_of_everything_declared(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path).write())
    agent = resolve_agent(suite, name=None, model=None, prompt=None)
    conditions = conditions_of(suite, agent, backend="process", limits=Limits(), agent_env={"A": "secret"})
    assert (conditions.dataset_revision, conditions.dataset_digest) == ("fixtures-1", suite.dataset.digest)
    assert (conditions.prompt_revision, conditions.prompt_digest) == ("polite", suite.prompts["polite"].digest)
    assert suite.policy is not None
    assert (conditions.policy_revision, conditions.policy_digest) == ("policy-1", suite.policy.digest)
    assert conditions.tool_schema_revision == conditions.tool_schema_digest == suite.tool_schema.digest
    assert (conditions.provider, conditions.model) == ("scripted", "scripted/support")
    assert conditions.model_digest == suite.model_digests["support"]
    assert (conditions.agent, conditions.agent_digest) == ("support", agent.digest)
    assert (conditions.seed, conditions.clock) == (0, "2026-09-01T12:00:00Z")
    assert conditions.agent_env == {"A": "secret"}
    assert "seed" in conditions.defaulted


def test_a_seed_flag_outweighs_the_suites_also_when_it_is_0(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path)
    folder.settings = "seed = 7\n" + folder.settings
    suite = load_suite(folder.write())
    agent = resolve_agent(suite, name=None, model=None, prompt=None)
    seeds = [conditions_of(suite, agent, backend="compose", limits=Limits(), seed=seed).seed for seed in (None, 0, 3)]
    assert seeds == [7, 0, 3]


def test_an_agent_without_model_or_prompt_has_none_in_its_conditions(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path).write())
    agent = resolve_agent(suite, name="desk", model=None, prompt=None)
    conditions = conditions_of(suite, agent, backend="process", limits=Limits())
    assert (conditions.provider, conditions.model, conditions.model_digest, conditions.prompt_digest) == (None,) * 4
