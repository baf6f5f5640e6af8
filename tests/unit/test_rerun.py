"""A recorded run asks again for what it had asked for: its flags, its files, its variables by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.flags import Flags
from driver.rerun import Anew, recorded_flags, request_again, unset_variables
from driver.working_tree import changes_since
from tests.fakes.run_requests import REQUEST
from tests.fakes.written_runs import plan_of

ANEW = Anew(command=("labctl", "replay"), evidence=Path("out"), env=(), env_from_file=None, host_env={})
ASKED = replace(
    REQUEST,
    agent="desk",
    model="scripted/other",
    prompt="v7",
    seed=3,
    timeout_s=0.0,
    isolation="container",
    base_image="alpine",
    setup_root=True,
    egress=True,
    container_runtime="podman",
    judge_model="openai/x",
    judge_votes=3,
    env=("TOKEN=value", "HOME"),
    not_secret=("HOME",),
)


def planned(**changed: Any) -> Any:
    plan = plan_of()
    return plan.model_copy(update={"flags": recorded_flags(ASKED), **changed})


def test_no_value_of_a_variable_is_recorded() -> None:
    flags = recorded_flags(ASKED)
    assert flags.env == ("TOKEN", "HOME")
    assert "value" not in flags.model_dump_json()


def test_what_was_asked_for_is_asked_for_again() -> None:
    again = request_again(
        Path("run"), planned(), cases=["a"], repeat=2, anew=replace(ANEW, env=("TOKEN=new", "HOME=/"))
    )
    kept = recorded_flags(again).model_copy(update={"agent": "desk", "seed": 3})
    assert kept == recorded_flags(ASKED)
    assert (again.suite, again.case_ids, again.repeat) == (Path("run/suite"), ("a",), 2)


def test_a_seed_of_the_suite_is_the_one_that_the_run_had() -> None:
    plan = planned()
    assert request_again(Path("run"), plan, cases=["a"], repeat=2, anew=ANEW).seed == plan.conditions.seed


def test_a_variable_without_a_value_here_is_named_and_not_asked_for() -> None:
    anew = replace(ANEW, host_env={"HOME": "/home"})
    assert unset_variables(planned(), anew) == ("TOKEN",)
    assert request_again(Path("run"), planned(), cases=["a"], repeat=2, anew=anew).env == ("HOME",)


def test_a_value_given_now_wins_over_the_hosts() -> None:
    anew = replace(ANEW, env=("TOKEN=mine",), host_env={"TOKEN": "theirs", "HOME": "/home"})
    assert request_again(Path("run"), planned(), cases=["a"], repeat=2, anew=anew).env == ("TOKEN=mine", "HOME")


def test_a_value_in_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "values").write_text("TOKEN=mine\nHOME=/\n")
    assert unset_variables(planned(), replace(ANEW, env_from_file=tmp_path / "values")) == ()


@pytest.mark.parametrize(
    ("flag", "file", "expected"),
    [
        ("team/agent.yaml", "agent.yaml", "run/agent/agent.yaml"),
        ("team/agent:2", "agent.yaml", "run/agent/agent.yaml"),
        ("desk", "agent.yaml", "desk"),
        ("desk", None, "desk"),
        (None, None, None),
    ],
)
def test_an_agent_file_is_the_one_in_the_evidence(flag: str | None, file: str | None, expected: str | None) -> None:
    plan = planned(flags=Flags(agent=flag))
    plan = plan.model_copy(update={"agent": plan.agent.model_copy(update={"name": "desk", "file": file})})
    assert request_again(Path("run"), plan, cases=["a"], repeat=2, anew=ANEW).agent == expected


def test_what_a_suite_has_become_is_named_file_by_file(tmp_path: Path) -> None:
    kept, now = tmp_path / "run" / "suite", tmp_path / "fixtures"
    for folder, files in ((kept, {"same": "1", "edited": "1", "gone": "1"}), (now, {"same": "1", "edited": "2"})):
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    (now / "prompts").mkdir()
    (now / "prompts" / "new.md").write_text("new")
    assert changes_since(tmp_path / "run", planned(suite=str(now))) == (
        f"{now}/edited: was changed",
        f"{now}/gone: is gone",
        f"{now}/prompts/new.md: is new, or was not kept",
    )
    gone = tmp_path / "elsewhere"
    assert changes_since(tmp_path / "run", planned(suite=str(gone))) == (f"{gone}: is not there",)
