"""Which agent runs, made of what, and what its preflight refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.plan import Plan
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from driver.agent_choice import ChosenAgent, choose_agent
from driver.agent_env import resolve_agent_env
from driver.agent_preflight import ReadyAgent, ready_agent
from driver.drafting import draft_run
from tests.fakes.docker_agent_suites import AGENT, CASES, with_program, write_agent_folder
from tests.fakes.run_requests import REQUEST, no_registry

DESK = '[agents.desk]\nadapter = "docker-agent"\nfile = "{file}"\nargs = ["-a", "helper"]\n'
OPENAI = "agents:\n  root:\n    model: openai/gpt-5\n    instruction: x\n"


@pytest.fixture
def agent_file(tmp_path: Path) -> Path:
    return write_agent_folder(tmp_path / "a", {"right": CASES["right"]}, settings="")


def choose(agent_file: Path, fetch: Any = no_registry, **flags: Any) -> ChosenAgent:
    flags = {"agent": str(agent_file), **flags}
    return choose_agent(suite_of(agent_file), replace(REQUEST, **flags), fetch=fetch)


def suite_of(agent_file: Path) -> Suite:
    return load_suite(agent_file.parent / "evals")


def declare(agent_file: Path, settings: str) -> None:
    (agent_file.parent / "evals" / "suite.toml").write_text(settings)


def test_the_flags_model_goes_before_that_of_the_file(agent_file: Path) -> None:
    own, other = choose(agent_file).plan, choose(agent_file, model="openai/gpt-5").plan
    assert (own.model, own.overrides_model, own.temperature) == ("mock/scripted", False, 0.5)
    assert (other.model, other.overrides_model, other.temperature) == ("openai/gpt-5", True, None)
    assert own.digest == other.digest


def test_the_agent_that_args_name_gives_the_model(agent_file: Path) -> None:
    declare(agent_file, DESK.format(file="../agent.yaml"))
    plan = choose(agent_file, agent="desk").plan
    assert (plan.name, plan.model, plan.file, plan.reference) == ("desk", "mock/other", "agent.yaml", None)


def test_a_suites_agent_by_reference_is_fetched(agent_file: Path) -> None:
    declare(agent_file, DESK.format(file="team/agent:1"))
    chosen = choose(agent_file, agent="desk", fetch=lambda reference: (f"{reference}@d", agent_file))
    assert (chosen.plan.reference, chosen.plan.file) == ("team/agent:1@d", "agent.yaml")
    with pytest.raises(LabError, match="team/agent:1 was asked for"):
        choose(agent_file, agent="desk")


def test_a_flag_by_reference_is_fetched(agent_file: Path) -> None:
    chosen = choose(agent_file, agent="team/agent", fetch=lambda _reference: ("team/agent@d", agent_file))
    assert (chosen.plan.name, chosen.plan.reference) == ("team/agent", "team/agent@d")


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"prompt": "rude"}, ErrorCode.BAD_USAGE),
        ({"model": "scripted/nobody"}, ErrorCode.UNKNOWN_MODEL),
        ({"model": "no-slash"}, ErrorCode.UNKNOWN_MODEL),
        ({"agent": "nobody"}, ErrorCode.UNKNOWN_AGENT),
    ],
)
def test_flags_that_cannot_be_are_refused(agent_file: Path, flags: dict[str, str], code: ErrorCode) -> None:
    with pytest.raises(LabError) as caught:
        choose(agent_file, **flags)
    assert (caught.value.code, caught.value.exit_code) == (code, 2)


def test_an_agent_file_that_its_own_agent_could_not_read_is_refused(agent_file: Path) -> None:
    hidden = agent_file.with_name(".env.yaml")
    hidden.write_text(AGENT)
    with pytest.raises(LabError) as caught:
        choose(hidden)
    assert caught.value.code is ErrorCode.AGENT_FILE_INVALID
    assert ".env.yaml --agent" in str(caught.value)


def test_a_scripted_model_of_the_file_must_be_the_suites(agent_file: Path) -> None:
    agent_file.write_text("agents:\n  root:\n    model: scripted/talker\n")
    with pytest.raises(LabError) as caught:
        choose(agent_file)
    assert caught.value.code is ErrorCode.UNKNOWN_MODEL
    models = agent_file.parent / "evals" / "models"
    models.mkdir()
    (models / "talker.json").write_text('{"rules": [{"reply": {"text": "hi"}}]}')
    assert choose(agent_file).plan.model == "scripted/talker"


def plan_of(agent_file: Path, *, backend: Any = "process", host: dict[str, str] | None = None, **flags: Any) -> Plan:
    wanted = replace(REQUEST, suite=agent_file.parent / "evals", **{"agent": str(agent_file), **flags})
    return draft_run(wanted, backend=backend, host_env=host or {}, fetch=no_registry).plan


def ready(agent_file: Path, *, env: tuple[str, ...] = (), backend: Any = "process", **flags: Any) -> ReadyAgent | None:
    values = resolve_agent_env(env, host={}, secret=(), not_secret=()).values
    plan = plan_of(agent_file, backend=backend, **flags)
    return ready_agent(
        choose(agent_file, **flags), plan, suite_of(agent_file), agent_env=values, host_env=with_program()
    )


def test_instruction_models_and_toolsets_are_conditions(agent_file: Path) -> None:
    before = plan_of(agent_file).conditions
    agent_file.write_text(AGENT.replace("Be brief.", "Be long."))
    after = plan_of(agent_file).conditions
    assert before.prompt_digest != after.prompt_digest
    assert before.agent_digest != after.agent_digest
    assert (before.model_digest, before.tool_schema_digest) == (after.model_digest, after.tool_schema_digest)
    assert (before.tools, before.prompt_revision) == ("live", before.prompt_digest)


def test_a_gateway_of_the_host_is_recorded_by_digest_and_one_with_a_password_as_secret(agent_file: Path) -> None:
    name = "DOCKER_AGENT_MODELS_GATEWAY"
    assert plan_of(agent_file, host={name: "http://g"}).conditions.agent_env[name].startswith("sha256:")
    assert plan_of(agent_file, host={name: "http://u:p@g"}).conditions.agent_env[name] == "secret"
    assert plan_of(agent_file, host={name: "http://g"}, env=(f"{name}=http://mine",)).conditions.agent_env[name]
    assert name not in plan_of(agent_file).conditions.agent_env


def test_a_program_and_keys_are_all_that_is_needed(agent_file: Path) -> None:
    found = ready(agent_file)
    assert found is not None
    assert found.program is not None
    assert found.program.version == "docker-agent version v0.0.0-replay"


@pytest.mark.parametrize(
    ("flags", "key"),
    [
        ({}, "OPENAI_API_KEY"),
        ({"model": "anthropic/claude"}, "ANTHROPIC_API_KEY"),
        ({"env": ("DOCKER_AGENT_MODELS_GATEWAY=http://g",)}, None),
        ({"env": ("OPENAI_API_KEY=k",)}, None),
        ({"env": ("OPENAI_API_KEY=",)}, "OPENAI_API_KEY"),
        ({"model": "anthropic/claude", "env": ("ANTHROPIC_API_KEY=k",)}, None),
        ({"model": "dmr/ai/qwen3"}, None),
    ],
)
def test_a_key_that_would_not_reach_the_agent_is_named(agent_file: Path, flags: Any, key: str | None) -> None:
    agent_file.write_text(OPENAI)
    if key is None:
        assert ready(agent_file, **flags) is not None
        return
    with pytest.raises(LabError) as caught:
        ready(agent_file, **flags)
    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.KEY_MISSING, 4)
    assert caught.value.next_step == f"-e {key}"


@pytest.mark.parametrize("helper", ["openai/gpt-5", "auto"])
def test_a_run_whose_helper_asks_a_model_outside_needs_a_way_out(agent_file: Path, helper: str) -> None:
    provider = 'providers: {scripted: {base_url: "${env.MODEL_URL}"}}\n'
    agent_file.write_text(f"{provider}agents:\n  root: {{model: scripted/talker}}\n  helper: {{model: {helper}}}\n")
    models = agent_file.parent / "evals" / "models"
    models.mkdir()
    (models / "talker.json").write_text('{"rules": [{"reply": {"text": "hi"}}]}')
    with pytest.raises(LabError) as caught:
        plan_of(agent_file, backend="compose")
    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.EGRESS_MISSING, 4)
    assert "agents.helper.model" in str(caught.value)
    assert plan_of(agent_file, backend="process").conditions.egress is False


def test_in_containers_the_program_may_come_from_an_image_instead(agent_file: Path) -> None:
    agent_file.write_text(OPENAI)
    plan = plan_of(agent_file, backend="compose", egress=True)
    from_image = plan.model_copy(update={"agent": plan.agent.model_copy(update={"binary_image": "agents:1"})})
    key = {"OPENAI_API_KEY": "a-key"}
    assert ready_agent(choose(agent_file), from_image, suite_of(agent_file), agent_env=key, host_env={}) is None
    with pytest.raises(LabError) as caught:
        ready_agent(choose(agent_file), plan, suite_of(agent_file), agent_env=key, host_env={"PATH": ""})
    assert caught.value.code is ErrorCode.DOCKER_AGENT_MISSING
    assert "binary_image" in str(caught.value)
