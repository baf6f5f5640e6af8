"""What CI runs is pinned: actions by commit, packages by hash, rights by need, and no expression reaches a shell."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.contract.test_house_rules import tracked

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BY_COMMIT = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
INSTALLS = re.compile(r"\bpip\b.{0,60}?\b(?:install|download)\b")
BY_HASH = ("--require-hashes", "--no-index")


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def steps(workflow: Any) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def workflow(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_every_action_is_pinned_by_commit_and_says_its_version(workflow: Path) -> None:
    used = [line.strip(" -") for line in workflow.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not BY_COMMIT.search(line)] == []


def test_one_action_has_one_commit_everywhere() -> None:
    commits: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for step in steps(read(path)):
            if "uses" in step:
                name, _, commit = step["uses"].partition("@")
                commits.setdefault(name, set()).add(commit)
    assert {name: found for name, found in commits.items() if len(found) > 1} == {}


def test_a_workflow_may_read_the_code_and_a_job_what_it_needs_beside_it(workflow: Path) -> None:
    content = read(workflow)
    assert content["permissions"] == {"contents": "read"}
    granted = {name: job.get("permissions", {}) for name, job in content["jobs"].items()}
    assert [name for name, rights in granted.items() if set(rights.values()) - {"read"}] == []


def test_code_of_a_stranger_never_runs_with_the_rights_of_the_repository(workflow: Path) -> None:
    content = read(workflow)
    triggers = content.get("on", content.get(True))  # YAML 1.1 takes `on` for a truth value
    assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(triggers)
    checkouts = [step for step in steps(content) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert [step for step in checkouts if step["with"]["persist-credentials"] is not False] == []


def test_no_expression_is_pasted_into_a_shell(workflow: Path) -> None:
    assert [step["run"] for step in steps(read(workflow)) if "${{" in step.get("run", "")] == []


def test_the_audit_is_strict_over_every_lock() -> None:
    audit = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["audit"]
    assert [step["run"] for step in audit["steps"] if "run" in step] == ["make audit"]
    done = subprocess.run(["make", "--dry-run", "audit"], cwd=ROOT, capture_output=True, text=True, check=True)
    (command,) = (line for line in done.stdout.splitlines() if "pip-audit " in line)
    assert {"--strict", "--require-hashes", "--disable-pip"} <= set(command.split())
    named = set(re.findall(r"--requirement (\S+)", command))
    assert named == {path.relative_to(ROOT).as_posix() for path in tracked() if path.suffix == ".lock"}


def test_packages_are_installed_by_hash_or_from_this_machine_only() -> None:
    files = [path for path in tracked() if path.suffix in {".yml", ".sh", ""} or path.parent.name == "scripts"]
    found = {
        f"{path.relative_to(ROOT)}: {command}"
        for path in files
        for command in install_commands(path.read_text(encoding="utf-8", errors="replace"))
    }
    assert len(found) >= 7, "the search finds the commands that are there"
    unpinned = {one for one in found if not any(word in one for word in BY_HASH)}
    # uv itself, which only makes the locks, on a developer's machine that has none
    assert unpinned == {one for one in unpinned if one.startswith("scripts/lock_requirements.py: ")}


def install_commands(text: str) -> Iterator[str]:
    """Every command that installs or downloads packages, with its continued lines."""
    lines = text.replace("\\\n", " ").splitlines()
    for number, line in enumerate(lines):
        if INSTALLS.search(line) and not line.lstrip().startswith("#"):
            yield " ".join(lines[number : number + 3 if line.rstrip().endswith("]") else number + 1]).strip()


def test_ci_makes_an_sbom_of_each_image_and_keeps_it() -> None:
    job = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["engine"]["steps"]
    made = next(number for number, step in enumerate(job) if step.get("run") == "make sbom")
    kept = job[made + 1]
    assert kept["uses"].startswith("actions/upload-artifact@")
    assert kept["with"]["path"] == ".build/sbom/*.cdx.json"
    # upload-artifact leaves out what lies in a hidden folder, and would find nothing
    assert (kept["with"]["include-hidden-files"], kept["with"]["if-no-files-found"]) == (True, "error")
