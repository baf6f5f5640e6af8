"""Which files of this machine a command agent runs as."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.agent_resolution import resolve_agent
from contracts.canonical import digest_of_file
from contracts.plan import AgentPlan
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from driver.agent_program import program_of_command, script_of_command
from tests.fakes.suite_folder import SuiteFolder


def program_at(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def agent_of(root: Path, *command: str, more: str = "") -> tuple[AgentPlan, Suite]:
    words = ", ".join(f'"{word}"' for word in command)
    settings = f'[agents.it]\nadapter = "command"\ncommand = [{words}]\n{more}'
    suite = SuiteFolder(root / "suite", settings=settings)
    root_of_suite = suite.write()
    program_at(root_of_suite / "agent.py")
    loaded = load_suite(root_of_suite)
    return resolve_agent(loaded, name="it", model=None, prompt=None), loaded


def test_a_program_by_its_path_and_one_on_the_agents_path_have_the_digest_of_their_file(tmp_path: Path) -> None:
    file = program_at(tmp_path / "bin" / "prog")
    for word in (str(file), "prog"):
        found = program_of_command(*agent_of(tmp_path, word), path=str(file.parent))
        assert found is not None
        assert (found.name, found.digest) == (f"agent:{word}", digest_of_file(file))


def test_a_link_has_the_digest_of_what_it_leads_to(tmp_path: Path) -> None:
    file = program_at(tmp_path / "real", "#!/bin/sh\necho\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "prog").symlink_to(file)
    found = program_of_command(*agent_of(tmp_path, "prog"), path=str(tmp_path / "bin"))
    assert found is not None
    assert found.digest == digest_of_file(file)


def test_what_the_agents_digest_has_is_not_recorded_twice(tmp_path: Path) -> None:
    plan, suite = agent_of(tmp_path, "{suite}/agent.py", "{suite}/agent.py")
    assert program_of_command(plan, suite, path=None) is None
    assert script_of_command(plan, suite) is None


def test_a_program_of_the_suite_that_the_agent_does_not_say_it_is_made_of_is_recorded(tmp_path: Path) -> None:
    plan, suite = agent_of(tmp_path, "{suite}/agent.py", more='files = ["prompts/*"]')
    found = program_of_command(plan, suite, path=None)
    assert found is not None
    assert found.name == "agent:{suite}/agent.py"


def test_the_suites_own_files_are_recorded_alike_however_the_suite_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("{suite}/agent.py", "{suite}/agent.py")
    plan, whole = agent_of(tmp_path, *words, more='files = ["prompts/*"]')
    monkeypatch.chdir(tmp_path)
    relative = load_suite(Path("suite"))
    assert not relative.root.is_absolute()
    assert program_of_command(plan, relative, path=None) == program_of_command(plan, whole, path=None) is not None
    assert script_of_command(plan, relative) == script_of_command(plan, whole) is not None


def test_a_script_outside_of_the_suite_is_recorded_by_the_first_argument_that_is_no_option(tmp_path: Path) -> None:
    file = program_at(tmp_path / "desk.py")
    found = script_of_command(*agent_of(tmp_path, "python3", "-u", str(file), "/etc/hostname"))
    assert found is not None
    assert (found.name, found.digest) == (f"agent:{file}", digest_of_file(file))
    assert script_of_command(*agent_of(tmp_path, "python3", "-u", "chatty", str(file))) is None


@pytest.mark.parametrize("word", ["/no/such/program", "no-such-program", "bin/prog", "./prog", "plain", "{suite}"])
def test_a_program_that_could_not_be_started_has_no_digest(tmp_path: Path, word: str) -> None:
    program_at(tmp_path / "bin" / "prog")
    (tmp_path / "bin" / "plain").write_text("no program")
    assert program_of_command(*agent_of(tmp_path, word), path=f"bin{os.pathsep}{tmp_path / 'bin'}") is None
