"""A case of a sealed run again: from the run's own files, whatever the working tree has become meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASE = "refund-approval-required"

FORGETFUL = """\
import json, os, pathlib, sys
order = json.load(sys.stdin)
seen = pathlib.Path(os.environ["MEMORY"])
word = "again" if seen.exists() else "first"
seen.touch()
print(json.dumps({"type": "message", "text": word}))
"""

CAREFUL = """\
import json, os
word = "first" if os.environ.get("MODE") == "careful" else "again"
print(json.dumps({"type": "message", "text": word}))
"""


def labctl(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", *map(str, arguments)]
    seen = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **env}
    return subprocess.run(argv, cwd=cwd, env=seen, capture_output=True, text=True, timeout=120, check=False)


def ran(*arguments: str, cwd: Path, **env: str) -> Path:
    done = labctl("run", *arguments, "--backend", "process", cwd=cwd, **env)
    assert done.stdout, done.stderr
    return cwd / done.stdout.splitlines()[-1]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the sample suite in it."""
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    return tmp_path


def forgetful_suite(folder: Path) -> None:
    """An agent that says something else the second time, because it remembers outside of the lab."""
    folder.mkdir()
    (folder / "agent.py").write_text(FORGETFUL)
    (folder / "suite.toml").write_text('[agents.it]\nadapter = "command"\ncommand = ["python3", "{suite}/agent.py"]\n')
    expect = {"assertions": [{"type": "contains", "value": "first"}]}
    (folder / "cases.json").write_text(json.dumps({"cases": [{"id": "says", "input": "?", "expect": expect}]}))


def test_a_failure_is_reproduced_under_the_prompt_of_the_run(place: Path) -> None:
    run = ran("--prompt", "refund-v7", cwd=place)
    again = labctl("replay", run, "--case", CASE, cwd=place)
    *_, verdict, path = again.stdout.splitlines()
    assert (again.returncode, verdict) == (0, f"reproduced: {CASE} of {run}: fail")
    assert labctl("verify", place / path, cwd=place).returncode == 0
    plan = json.loads((place / path / "plan.json").read_text())
    assert [case["caseId"] for case in plan["cases"]] == [CASE]
    assert plan["agent"]["prompt"] == "refund-v7"
    comparison = json.loads((place / path / "comparison.json").read_text())
    assert (comparison["verdict"], comparison["baselineRun"]) == ("no-regression", run.name)


def test_what_was_edited_since_is_named_and_not_used(place: Path) -> None:
    run = ran("--case", CASE, cwd=place)
    (place / "fixtures" / "routes.json").write_text('{"routes": []}')
    (place / "fixtures" / "prompts" / "new.md").write_text("new")
    again = labctl("replay", run, "--case", CASE, cwd=place)
    assert again.returncode == 0, again.stderr
    assert [line for line in again.stdout.splitlines() if line.startswith("changed")] == [
        "changed since, and not used: fixtures/prompts/new.md: is new, or was not kept",
        "changed since, and not used: fixtures/routes.json: was changed",
    ]


def test_an_agent_that_does_something_else_has_diverged_and_the_first_difference_is_told(tmp_path: Path) -> None:
    forgetful_suite(tmp_path / "suite")
    memory = str(tmp_path / "memory")
    run = ran("suite", "-e", "MEMORY", cwd=tmp_path, MEMORY=memory)
    again = labctl("replay", run, "--case", "says", cwd=tmp_path, MEMORY=memory)
    lines = again.stdout.splitlines()
    assert (again.returncode, lines[-2]) == (1, f"diverged: says of {run}: fail")
    assert lines[0] == "says: pass → fail"
    assert any(line.startswith("  first divergence: text 1") for line in lines), lines


def test_a_variable_that_has_no_value_any_more_is_named(tmp_path: Path) -> None:
    forgetful_suite(tmp_path / "suite")
    run = ran("suite", "-e", "MEMORY", cwd=tmp_path, MEMORY=str(tmp_path / "memory"))
    again = labctl("replay", run, "--case", "says", cwd=tmp_path)
    assert "not restored: the value of MEMORY; next: -e MEMORY" in again.stdout.splitlines()
    assert any(line.startswith("not restored: agentEnv ") for line in again.stdout.splitlines())
    given = labctl("replay", run, "--case", "says", "-e", f"MEMORY={tmp_path / 'other'}", cwd=tmp_path)
    assert not any("the value of" in line for line in given.stdout.splitlines())


def test_what_could_not_be_restored_may_be_the_cause_so_nobody_can_tell(tmp_path: Path) -> None:
    forgetful_suite(tmp_path / "suite")
    (tmp_path / "suite" / "agent.py").write_text(CAREFUL)
    run = ran("suite", "-e", "MODE=careful", "--not-secret", "MODE", cwd=tmp_path)
    without = labctl("replay", run, "--case", "says", cwd=tmp_path)
    assert (without.returncode, without.stdout.splitlines()[-2]) == (3, f"cannot tell: says of {run}: fail")
    other = labctl("replay", run, "--case", "says", "-e", "MODE=other", cwd=tmp_path)
    assert (other.returncode, other.stdout.splitlines()[-2]) == (3, f"cannot tell: says of {run}: fail")
    same = labctl("replay", run, "--case", "says", "-e", "MODE=careful", cwd=tmp_path)
    assert (same.returncode, same.stdout.splitlines()[-2]) == (0, f"reproduced: says of {run}: pass")


def test_an_agent_whose_copy_was_redacted_is_not_said_to_have_diverged(tmp_path: Path) -> None:
    forgetful_suite(tmp_path / "suite")
    (tmp_path / "suite" / "agent.py").write_text(CAREFUL)
    secret = "careful-4f9c2b7d"
    agent = tmp_path / "suite" / "agent.py"
    agent.write_text(agent.read_text().replace("careful", secret))
    run = ran("suite", "-e", f"MODE={secret}", cwd=tmp_path)  # a secret, which stands in the agent too
    again = labctl("replay", run, "--case", "says", "-e", f"MODE={secret}", cwd=tmp_path)
    assert (again.returncode, again.stdout.splitlines()[-2]) == (3, f"cannot tell: says of {run}: fail")
    assert any(line.startswith("not restored: agentDigest ") for line in again.stdout.splitlines())


def test_evidence_from_another_machine_is_enough(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    run = ran("--case", CASE, cwd=place)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with tarfile.open(elsewhere / "run.tar.gz", "w:gz") as packed:
        packed.add(run, arcname=run.name)
    shutil.rmtree(place)
    again = labctl("replay", "run.tar.gz", "--case", CASE, cwd=elsewhere)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-2] == f"reproduced: {CASE} of run.tar.gz: pass"


def test_another_seed_is_not_slipped_in_and_repeats_are_repeated(place: Path) -> None:
    run = ran("--case", CASE, "--seed", "5", "--repeat", "2", cwd=place)
    path = place / labctl("replay", run, "--case", CASE, cwd=place).stdout.splitlines()[-1]
    plan = json.loads((path / "plan.json").read_text())
    assert (plan["conditions"]["seed"], plan["cases"][0]["repeats"]) == (5, 2)


def test_a_case_that_the_run_does_not_have_is_refused(place: Path) -> None:
    run = ran("--case", CASE, cwd=place)
    again = labctl("replay", run, "--case", "unknown-order", cwd=place)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("labctl: unknown-case: ")


def test_an_unsealed_or_altered_run_is_refused(place: Path) -> None:
    run = ran("--case", CASE, cwd=place)
    with (run / "suite" / "routes.json").open("a") as routes:
        routes.write("\n")
    assert labctl("replay", run, "--case", CASE, cwd=place).returncode == 5
    (run / "COMPLETE").unlink()
    again = labctl("replay", run, "--case", CASE, cwd=place)
    assert again.returncode == 5
    assert again.stderr.startswith("labctl: unsealed: ")
