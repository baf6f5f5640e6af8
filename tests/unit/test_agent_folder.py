"""Which files of its folder an agent gets and which never; what `--agent` names; how references are fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.suite.loading import load_suite
from driver.agent_folder import AgentFolder, agent_folder
from driver.agent_names import default_suite, digest_in, is_file, is_reference, with_digest
from driver.agent_reference import fetch_agent
from tests.fakes.docker_agent_suites import CASES, PROGRAMS, with_program, write_agent_folder
from tests.fakes.suite_folder import SuiteFolder

DIGEST = "sha256:" + "a" * 64


def folder_of(root: Path, *, suite: Path | None = None) -> AgentFolder:
    return agent_folder(root, suite=load_suite(suite or root / "evals"))


def test_an_agent_gets_its_folder_without_what_knows_the_expectations_or_a_secret(tmp_path: Path) -> None:
    root = write_agent_folder(tmp_path / "a", {"right": CASES["right"]}).parent
    for name in (
        ".git/config", ".env", ".env.local", ".netrc", "sub/.npmrc", ".aws/credentials", "sub/evals/x.json",
        "evals/results/r.json", "evidence/run-1/plan.json", "elsewhere/plan.json", "elsewhere/traces/attempts.jsonl",
        "__pycache__/x.pyc", ".agents/skill.md", "sub/tool.sh",
    ):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (tmp_path / "outside").write_text("x")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "to-evals").symlink_to("evals")
    (root / "inner").symlink_to("notes.md")

    found = folder_of(root)

    assert sorted(found.files) == [
        ".agents/skill.md", "agent.yaml", "inner", "notes.md", "streams/right.json", "sub/tool.sh",
    ]  # fmt: skip
    assert sorted(found.left_out) == [".env", ".env.local", ".netrc", "link", "sub/.npmrc", "to-evals"]


@pytest.mark.parametrize(
    "target",
    [
        "evals/right.json", "results/old.json", ".git/config", ".env", ".envrc", ".netrc", ".aws/credentials",
        "sub/evals/x.json", "run-1/plan.json", "../outside", "nowhere", "link", "sub",
    ],
)  # fmt: skip
def test_a_link_is_judged_by_where_it_leads(tmp_path: Path, target: str) -> None:
    root = write_agent_folder(tmp_path / "a", {"right": CASES["right"]}).parent
    for name in (
        "results/old.json", ".git/config", ".env", ".envrc", ".netrc", ".aws/credentials", "sub/evals/x.json",
        "run-1/plan.json", "run-1/traces/attempts.jsonl", "../outside",
    ):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "link").symlink_to(target)
    (root / "chain").symlink_to("link")

    found = folder_of(root)

    assert {"link", "chain"} <= set(found.left_out)
    assert sorted(found.files) == ["agent.yaml", "notes.md", "streams/right.json"]


def test_a_link_to_the_suites_own_file_does_not_bring_it_along(tmp_path: Path) -> None:
    root = SuiteFolder(tmp_path / "s").write()
    (root / "notes").mkdir()
    (root / "notes" / "hint.json").symlink_to("../cases.json")
    assert "notes/hint.json" in folder_of(root, suite=root).left_out


@pytest.mark.parametrize("name", [".envrc", ".env.local", ".env-prod", ".environment", ".env/values"])
def test_whatever_begins_like_an_env_file_stays_out(tmp_path: Path, name: str) -> None:
    root = write_agent_folder(tmp_path / "a", {"right": CASES["right"]}).parent
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("KEY=s3cr3t")
    assert name not in folder_of(root).files


def test_the_suite_is_no_part_of_the_agent_wherever_it_lies(tmp_path: Path) -> None:
    root = write_agent_folder(tmp_path / "a", {"right": CASES["right"]}).parent
    (root / "evals").rename(root / "checks")
    assert not any(name.startswith("checks") for name in folder_of(root, suite=root / "checks").files)


def test_an_agent_file_beside_the_cases_does_not_bring_them_along(tmp_path: Path) -> None:
    suite = SuiteFolder(tmp_path / "s")
    root = suite.write()
    (root / "agent.yaml").write_text("agents: {}\n")
    (root / "a-session.json").write_text("{}")
    names = set(folder_of(root, suite=root).files)
    assert "agent.yaml" in names
    assert not {"cases.json", "suite.toml", "routes.json", "a-session.json"} & names
    assert not any(name.startswith("models/") for name in names)


def test_the_staged_copy_is_readable_by_all_and_written_by_none(tmp_path: Path) -> None:
    root = write_agent_folder(tmp_path / "a", {"right": CASES["right"]}).parent
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o700)
    folder_of(root).stage(tmp_path / "configs")
    modes = {path.name: oct(path.stat().st_mode)[-3:] for path in (tmp_path / "configs").rglob("*")}
    assert (modes["run.sh"], modes["agent.yaml"], modes["streams"]) == ("555", "444", "755")


def test_its_digest_changes_with_any_file_and_not_with_the_evals(tmp_path: Path) -> None:
    root = write_agent_folder(tmp_path / "a", {"right": CASES["right"]}).parent
    before = folder_of(root).digests()
    (root / "evals" / "more.json").write_text("{}")
    assert folder_of(root).digests() == before
    (root / "notes.md").write_text("other\n")
    assert folder_of(root).digests() != before


@pytest.mark.parametrize("name", ["agent.yaml", "a/b.yml", "A.YAML", "x/agent.hcl"])
def test_names_of_files(name: str) -> None:
    assert is_file(name)
    assert not is_reference(name)


@pytest.mark.parametrize(
    "name",
    ["team/agent", "team/agent:1.2", f"team/agent@{DIGEST}", "ghcr.io/team/agent:v1", "host:5000/a/b", "agent:1"],
)
def test_names_of_references(name: str) -> None:
    assert is_reference(name)


@pytest.mark.parametrize(
    "name", ["support", "Team/Agent", "a b/c", "team/agent@sha256:1", "/abs/agent", "../agent", ""]
)
def test_names_that_are_neither(name: str) -> None:
    assert not is_file(name)
    assert not is_reference(name)


def test_a_reference_by_digest_loses_its_tag() -> None:
    assert with_digest("host:5000/a/b:v1", DIGEST) == f"host:5000/a/b@{DIGEST}"
    assert digest_in(f"a/b:v1@{DIGEST}") == DIGEST
    assert digest_in("a/b:v1") is None


def test_the_suite_beside_an_agent_file_is_the_default_and_a_reference_has_none() -> None:
    assert default_suite("x/agent.yaml") == Path("x/evals")
    assert default_suite(None) == default_suite("support") == Path("fixtures")
    with pytest.raises(LabError) as caught:
        default_suite("team/agent")
    assert caught.value.code is ErrorCode.BAD_USAGE


def docker(folder: Path, script: str) -> dict[str, str]:
    folder.mkdir()
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)
    env = with_program(HOME=str(folder))
    return {**env, "PATH": f"{folder}:{env['PATH']}"}


def test_a_tag_is_resolved_to_a_digest_and_fetched_by_it(tmp_path: Path) -> None:
    target = tmp_path / "fetched"
    target.mkdir()
    env = docker(
        tmp_path / "bin", f'[ "$4" = team/agent:1 ] && [ "$DOCKER_CONFIG" = "{tmp_path}/bin/.docker" ] && echo {DIGEST}'
    )
    reference, path = fetch_agent("team/agent:1", folder=target, host_env=env)
    assert reference == f"team/agent@{DIGEST}"
    assert f"team/agent@{DIGEST}" in path.read_text()


@pytest.mark.parametrize(
    ("script", "cause"), [("exit 3", "exit status 3: it wrote nothing"), ("echo hi", "named no sha256")]
)
def test_a_registry_that_cannot_say_the_digest_is_an_environment_error(tmp_path: Path, script: str, cause: str) -> None:
    with pytest.raises(LabError) as caught:
        fetch_agent("team/agent:1", folder=tmp_path, host_env=docker(tmp_path / "bin", script))
    assert caught.value.code is ErrorCode.AGENT_UNRESOLVED
    assert cause in str(caught.value)
    assert "docker agent share pull team/agent:1" in str(caught.value)


def test_without_the_program_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        fetch_agent(f"team/agent@{DIGEST}", folder=tmp_path, host_env={"PATH": str(tmp_path)})
    assert caught.value.code is ErrorCode.DOCKER_AGENT_MISSING
    assert (PROGRAMS / "docker-agent").exists()
