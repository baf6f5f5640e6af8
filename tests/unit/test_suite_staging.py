"""What agents get to read of a suite, and which files an agent is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.suite.loading import load_suite
from contracts.suite.staging import stage_agent_view
from driver.staging import staged
from tests.fakes.suite_folder import SuiteFolder


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "desk")


def view(folder: SuiteFolder, to: Path) -> list[str]:
    stage_agent_view(load_suite(folder.root), to)
    return sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if not path.is_dir())


VISIBLE = ["agents/desk.py", "policies/policy.md", "prompts/polite.md", "tools.json"]


def test_an_agent_sees_prompts_policies_tools_and_programs_only(folder: SuiteFolder, tmp_path: Path) -> None:
    folder.texts = {"sessions/a.json": "{}", ".git/HEAD": "x", "agents/__pycache__/desk.pyc": "x"}
    folder.write()
    assert view(folder, tmp_path / "view") == VISIBLE


def test_what_is_withheld_is_withheld_under_its_configured_name(folder: SuiteFolder, tmp_path: Path) -> None:
    names = {"cases": "data/tasks.json", "routes": "data/paths.json", "state": "data/world.json"}
    folder.settings = "".join(f'{key} = "{name}"\n' for key, name in names.items()) + folder.settings
    root = folder.write()
    (root / "data").mkdir()
    for key, name in names.items():
        (root / f"{key}.json").rename(root / name)
    (root / "cases.json").write_text("an older list of expectations")
    assert view(folder, tmp_path / "view") == VISIBLE


def test_run_directories_in_the_suite_are_withheld(folder: SuiteFolder, tmp_path: Path) -> None:
    folder.texts = {"runs/run-1/plan.json": "{}", "runs/run-1/suite/cases.json": "{}", "evidence/run-2/a": "x"}
    folder.write()
    assert view(folder, tmp_path / "view") == VISIBLE


def test_runs_that_lie_in_the_suite_are_no_part_of_it(folder: SuiteFolder) -> None:
    folder.texts = {"runs/run-1/plan.json": "{}", "runs/run-1/suite/cases.json": "{}", "notes/plan.json": "{}"}
    with staged(load_suite(folder.write())) as stage:
        there = {path.relative_to(stage.suite).as_posix() for path in stage.suite.rglob("*")}
    assert {"notes/plan.json", "cases.json", "runs"} < there
    assert not any(name.startswith("runs/") for name in there)


def test_no_link_leads_to_the_expectations_or_out_of_the_suite(folder: SuiteFolder, tmp_path: Path) -> None:
    root = folder.write()
    (tmp_path / "secret").write_text("x")
    for name, target in {"a": "../desk/cases.json", "b": str(tmp_path / "secret"), "c": "/etc", "d": "nowhere"}.items():
        (root / "agents" / name).symlink_to(target)
    (root / "agents" / "e").symlink_to("../models")
    (root / "agents" / "tools").symlink_to("../tools.json")
    assert view(folder, tmp_path / "view") == ["agents/desk.py", "agents/tools", *VISIBLE[1:]]
    assert not any(path.is_symlink() for path in (tmp_path / "view").rglob("*"))


def test_everybody_may_read_and_programs_stay_programs(folder: SuiteFolder, tmp_path: Path) -> None:
    root = folder.write()
    (root / "agents" / "desk.py").chmod(0o700)
    (root / "tools.json").chmod(0o600)
    (root / "prompts").chmod(0o700)
    view(folder, tmp_path / "view")
    modes = {
        name: (tmp_path / "view" / name).stat().st_mode & 0o777 for name in ("agents/desk.py", "tools.json", "prompts")
    }
    assert modes == {"agents/desk.py": 0o755, "tools.json": 0o644, "prompts": 0o755}


def test_a_view_inside_the_suite_does_not_hold_itself(folder: SuiteFolder) -> None:
    root = folder.write()
    assert view(folder, root / "staged") == VISIBLE


@pytest.mark.parametrize(
    ("declared", "files"),
    [
        ('command = ["python3", "{suite}/agents/desk.py"]', ["agents/desk.py"]),
        ('command = ["{suite}/agents"]', ["agents/desk.py", "agents/lib/a.py"]),
        ("command = [\"sh\", \"-c\", \"python3 '{suite}/agents/desk.py' --tools={suite}/tools.json\"]",
         ["agents/desk.py", "tools.json"]),
        ('command = ["desk"]', []),
        ('command = ["desk"]\nfiles = ["agents/**/*", "prompts/*"]',
         ["agents/desk.py", "agents/lib/a.py", "prompts/polite.md"]),
        ('command = ["python3", "{suite}/agents/desk.py"]\nfiles = []', []),
    ],
)  # fmt: skip
def test_an_agent_is_made_of_its_declared_files_or_of_those_that_its_command_names(
    folder: SuiteFolder, declared: str, files: list[str]
) -> None:
    folder.texts = {"agents/lib/a.py": "x", "agents/__pycache__/a.pyc": "x"}
    folder.settings += f'\n[agents.extra]\nadapter = "command"\n{declared}\n'
    assert list(load_suite(folder.write()).agent_files["extra"]) == files
