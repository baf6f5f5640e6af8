"""Reading docker-agent files: YAML 1.2, every problem at once, a digest for each part, one change, the rest kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from driver.agent_choice import with_fixture_tools
from driver.agent_file import AgentFile, read_agent_file
from driver.yaml_values import NoYamlError, changed_yaml, read_yaml
from tests.fakes.docker_agent_suites import AGENT


def read(tmp_path: Path, text: str | bytes = AGENT) -> AgentFile:
    path = tmp_path / "agent.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_agent_file(path, shown="agent.yaml", place="--agent")


def refusal(tmp_path: Path, text: str | bytes) -> LabError:
    with pytest.raises(LabError) as caught:
        read(tmp_path, text)
    assert caught.value.code is ErrorCode.AGENT_FILE_INVALID
    assert caught.value.exit_code == 2
    return caught.value


def test_the_agent_that_runs_is_the_named_one_else_root_else_the_first(tmp_path: Path) -> None:
    file = read(tmp_path, "agents:\n  b: {}\n  root: {}\n")
    assert file.main(()) == "root"
    assert (
        file.main(("-a", "b")) == file.main(("--safety", "strict", "--agent=b")) == file.main(("--agent", "b")) == "b"
    )
    assert file.main(("--agent",)) == file.main(("-a", "nobody")) == "root"
    assert read(tmp_path, "agents:\n  b: {}\n  c: {}\n").main(()) == "b"


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("Be brief.", "Be long.", "instruction_digest"),
        ("instruction: Help.", "instruction: Do.", "instruction_digest"),
        ("model: scripted", "model: other", "models_digest"),
        ("temperature: 0.5", "temperature: 0.6", "models_digest"),
        ("127.0.0.1:9", "127.0.0.1:10", "models_digest"),
        ("type: filesystem", "type: shell", "toolsets_digest"),
        ("said to nobody", "said to all", None),
        ('description: "answers"', "description: talks", None),
    ],
)
def test_each_part_has_a_digest_of_its_own(tmp_path: Path, old: str, new: str, changed: str | None) -> None:
    parts = ("instruction_digest", "models_digest", "toolsets_digest")
    before = read(tmp_path)
    digests = {part: getattr(before, part) for part in parts}
    assert old in AGENT
    after = read(tmp_path, AGENT.replace(old, new))
    assert [part for part in parts if getattr(after, part) != digests[part]] == ([changed] if changed else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("agents: [", "agent.yaml line 1: is no YAML"),
        ("agents:\n  a: " + "[" * 100_000, "agent.yaml line 2: is no YAML: nested too deeply"),
        ("agents:\n  root: {}\n  root: {}\n", "line 3: is no YAML: found duplicate key"),
        ("a: 1\n---\nb: 2\n", "is no YAML"),
        (b"agents: \xff", "agent.yaml: byte 8 is not UTF-8"),
        (b"x" * ((1 << 20) + 1), "agent.yaml --agent: has more than 1048576 bytes"),
        ("", "agent.yaml: holds no mapping"),
        ("- a\n", "agent.yaml: holds no mapping"),
        ("models: {}\n", "agent.yaml agents: there are no agents"),
        ("agents: {}\n", "agent.yaml agents: there are no agents"),
        ("agents: [a]\n", "agent.yaml agents: is no mapping"),
        ("a: &a [*a]\nagents: {r: {}}\n", "holds too many values, or is nested too deeply"),
        ("agents: {r: {}}\nb: !!binary aGk=\n", "holds a value of the type bytes"),
    ],
)
def test_what_cannot_be_used_is_named_by_file_and_place(tmp_path: Path, text: str | bytes, found: str) -> None:
    assert found in str(refusal(tmp_path, text))


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    text = "models: [a]\nproviders: {p: 1}\nagents:\n  a: 1\n  b: {model: [x], toolsets: {}, instruction: 5}\n"
    found = {str(one) for one in refusal(tmp_path, text).found}
    assert found == {
        "agent.yaml models: is no mapping",
        "agent.yaml providers.p: is no mapping",
        "agent.yaml agents.a: is no mapping",
        "agent.yaml agents.b.model: is not text",
        "agent.yaml agents.b.toolsets: is not a list",
        "agent.yaml agents.b.instruction: is not text",
    }


def test_an_anchor_that_is_there_twice_is_right_and_the_last_one_counts() -> None:
    text = "a: &x 1\nb: &x 2\nc: *x\n"
    assert read_yaml(text) == {"a": 1, "b": 2, "c": 2}
    assert changed_yaml(text, lambda document: document.update(d=3)).endswith("d: 3\n")


def test_a_bomb_of_aliases_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "too many values" in str(refusal(tmp_path, "\n".join([*lines, "agents: {r: {}}\n"])))


def test_links_and_folders_and_absent_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir()
    (tmp_path / "outside.yaml").write_text(AGENT)
    (folder / "out.yaml").symlink_to(tmp_path / "outside.yaml")
    (folder / "inside.yaml").write_text(AGENT)
    (folder / "in.yaml").symlink_to("inside.yaml")
    (folder / "folder.yaml").mkdir()
    for name, found in [("out", "leads out of its folder"), ("folder", "is a folder"), ("none", "is not there")]:
        with pytest.raises(LabError, match="cannot be used") as caught:
            read_agent_file(folder / f"{name}.yaml", shown=name, place="--agent")
        assert found in str(caught.value)
    assert read_agent_file(folder / "in.yaml", shown="in", place="--agent").agents


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("0o17", 15),
        ("017", 17),
        ("2026-01-02", "2026-01-02"),
        (".inf", "inf"),
        ("9007199254740993", "9007199254740993"),
        ("{1: a, yes: b}", {"1": "a", "yes": "b"}),
        ("~", None),
    ],
)
def test_yaml_is_read_as_version_1_2_says(text: str, value: Any) -> None:
    assert read_yaml(text) == value


def test_a_change_leaves_comments_order_quotes_and_words_as_they_were() -> None:
    text = "# first\nb: 'no'   # why\na: no\nversion: \"8\"\n"
    assert changed_yaml(text, lambda document: document.update(c=1)) == text + "c: 1\n"


def test_text_that_is_no_yaml_says_where() -> None:
    with pytest.raises(NoYamlError) as caught:
        read_yaml("a: 1\nb: [")
    assert caught.value.where in {"line 2", "line 3"}


def test_the_fixture_apis_tools_are_the_last_toolset_of_every_agent_and_nothing_else_changes() -> None:
    server = {"type": "mcp", "remote": {"url": "{fixtureUrl}/mcp", "transport_type": "streamable"}}
    before, after = read_yaml(AGENT), read_yaml(with_fixture_tools(AGENT))

    for agent in after["agents"].values():
        assert agent["toolsets"] == [{"type": "filesystem"}, server]
        agent["toolsets"].remove(server)
    assert after == before
    assert read_yaml(with_fixture_tools("agents:\n  a:\n    model: x/y\n"))["agents"]["a"]["toolsets"] == [server]
