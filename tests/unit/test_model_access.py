"""Whether a model outside could be asked at all is known before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.model_endpoint import PROVIDERS, Endpoint
from contracts.plan import Backend
from driver.agent_env import PROVIDER_KEYS
from driver.drafting import Draft, draft_run
from driver.request import RunRequest
from tests.fakes.judged_suite import judged_case
from tests.fakes.run_requests import REQUEST, no_registry
from tests.fakes.suite_folder import SETTINGS, SuiteFolder

OWN = '\n[agents.own]\nadapter = "chat"\nmodel = "{model}"\nmodel_url = "{url}"\n'


def request_for(folder: SuiteFolder, **changes: object) -> RunRequest:
    return replace(REQUEST, suite=folder.write(), evidence=folder.root.parent / "evidence", **changes)  # type: ignore[arg-type]


def draft(
    folder: SuiteFolder, *, backend: Backend = "process", host: dict[str, str] | None = None, **flags: object
) -> Draft:
    return draft_run(request_for(folder, **flags), backend=backend, host_env=host or {}, fetch=no_registry)


def refusal(folder: SuiteFolder, **flags: object) -> LabError:
    with pytest.raises(LabError) as caught:
        draft(folder, **flags)  # type: ignore[arg-type]
    return caught.value


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "suite")


def test_every_providers_key_is_forwarded_unasked() -> None:
    keys = {key for provider in PROVIDERS.values() for key in provider.keys}
    assert keys <= set(PROVIDER_KEYS)
    assert all((provider.url is None) != (provider.known_as is None) for provider in PROVIDERS.values())


def test_a_chat_agents_missing_key_is_named_with_the_flag_that_gives_it(folder: SuiteFolder) -> None:
    error = refusal(folder, model="anthropic/claude")
    assert (error.code, error.exit_code) == (ErrorCode.KEY_MISSING, 4)
    assert error.next_step == "-e ANTHROPIC_API_KEY"


@pytest.mark.parametrize(
    "given",
    [
        {"host": {"GEMINI_API_KEY": "k"}},
        {"env": ("GOOGLE_API_KEY=k",)},
        {"env": ("GOOGLE_API_KEY",), "host": {"GOOGLE_API_KEY": "k"}},
    ],
)
def test_a_key_may_come_from_the_host_or_from_e(folder: SuiteFolder, given: dict[str, object]) -> None:
    conditions = draft(folder, model="google/gemini", **given).plan.conditions  # type: ignore[arg-type]
    assert (conditions.provider, conditions.model, conditions.model_digest) == ("google", "google/gemini", None)
    assert set(conditions.agent_env.values()) == {"secret"}


def test_a_file_gives_the_keys_that_are_known_and_names_nothing_else(folder: SuiteFolder, tmp_path: Path) -> None:
    path = tmp_path / "keys.env"
    path.write_text("OPENAI_API_KEY=from-file\nMINE=from-file\nOTHER=from-file\n")
    found = draft(
        folder, model="openai/gpt", env_from_file=path, env=("MINE",), host={"OPENAI_API_KEY": "host", "OTHER": "host"}
    )
    assert dict(found.env.values) == {"OPENAI_API_KEY": "from-file", "MINE": "from-file"}
    explicit = draft(folder, env_from_file=path, env=("MINE=explicit",))
    assert explicit.env.values["MINE"] == "explicit"


def test_an_own_endpoint_needs_no_key_unless_it_names_one(folder: SuiteFolder) -> None:
    folder.settings += OWN.format(model="llama/small", url="http://127.0.0.1:9/v1")
    assert draft(folder, agent="own").plan.agent.model_url == "http://127.0.0.1:9/v1"
    folder.settings += 'auth = "MY_KEY"\n'
    assert refusal(folder, agent="own").next_step == "-e MY_KEY"
    assert draft(folder, agent="own", env=("MY_KEY=k",)).plan.agent.auth == "MY_KEY"


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [("http://127.0.0.1:9/v1", True), ("https://llm.example/v1", True), ("http://llama:8080/v1", False)],
)
def test_on_compose_nothing_leads_to_a_model_outside(folder: SuiteFolder, url: str, is_refused: bool) -> None:
    folder.settings += OWN.format(model="llama/small", url=url)
    if not is_refused:
        assert draft(folder, agent="own", backend="compose")
        return
    error = refusal(folder, agent="own", backend="compose")
    assert (error.code, error.exit_code) == (ErrorCode.EGRESS_MISSING, 4)
    assert url in str(error)


def test_a_command_agents_real_model_is_out_of_reach_on_compose_too(folder: SuiteFolder) -> None:
    error = refusal(folder, agent="desk", model="openai/gpt", backend="compose")
    assert error.code is ErrorCode.EGRESS_MISSING
    assert draft(folder, agent="desk", model="openai/gpt")


def test_the_judge_is_part_of_the_conditions_only_where_it_is_asked(folder: SuiteFolder) -> None:
    folder.settings = 'judge_model = "openai/gpt"\n' + SETTINGS
    folder.cases.append(judged_case("one", "it is polite"))
    host = {"OPENAI_API_KEY": "a-key-of-the-judge"}
    asked = draft(folder, host=host, judge_votes=3)
    assert (asked.plan.conditions.judge_model, asked.plan.conditions.judge_votes) == ("openai/gpt", 3)
    assert asked.judge is not None
    assert "a-key-of-the-judge" in asked.secrets.values()
    assert draft(folder, case_ids=("greets",)).plan.conditions.judge_model is None
    assert refusal(folder).code is ErrorCode.KEY_MISSING


def test_the_judges_key_is_an_explicit_one_and_secret_even_where_the_agents_is_not(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    folder.cases.append(judged_case("one", "it is polite"))
    path = tmp_path / "keys.env"
    path.write_text("OPENAI_API_KEY=of-the-file\n")
    explicit, not_secret = ("OPENAI_API_KEY=explicit",), ("OPENAI_API_KEY",)
    found = draft(folder, judge_model="openai/gpt", env_from_file=path, env=explicit, not_secret=not_secret)
    assert found.judge is not None
    assert found.judge.key == "explicit"
    assert found.env.secrets == {}
    assert found.secrets == {"judge:OPENAI_API_KEY": "explicit"}


@pytest.mark.parametrize("model", ["scripted/support", "gpt", "opneai/gpt", "openai/"])
def test_a_judge_that_cannot_be_asked_is_bad_input(folder: SuiteFolder, model: str) -> None:
    folder.cases.append(judged_case("one", "it is polite"))
    error = refusal(folder, judge_model=model)
    assert (error.code, error.exit_code) == (ErrorCode.UNKNOWN_MODEL, 2)
    assert "--judge-model" in str(error)


def test_an_endpoint_takes_the_first_key_that_has_a_value() -> None:
    google = Endpoint("google/gemini")
    assert google.key({"GOOGLE_API_KEY": "", "GEMINI_API_KEY": "k"}) == "k"
    assert google.lacks_key({"GOOGLE_API_KEY": ""})
    assert not Endpoint("own/some", url="http://a/v1").lacks_key({})
