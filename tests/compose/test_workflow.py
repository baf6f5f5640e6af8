"""The workflow of the named jobs, step by step as CI runs it: real make, real labctl, the engine; GitHub is played."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.compose.checkouts import copy_checkout
from tests.compose.launching import ROOT

pytestmark = pytest.mark.engine

WORKFLOW: Any = YAML(typ="safe").load((ROOT / ".github" / "workflows" / "lab.yml").read_text(encoding="utf-8"))
GH = """\
#!/bin/sh
# what GitHub's client does for the workflow: `run list` names the runs, `run download` copies the artefacts of one
case "$1 $2" in
  "run list") cat "$ARTEFACTS/id" 2>/dev/null || true ;;
  "run download")
    id=$3
    while [ "$1" != --pattern ]; do shift; done
    pattern=$2
    found=1; mkdir -p evidence
    for one in "$ARTEFACTS"/${pattern%\\*}$id.*; do [ -d "$one" ] && cp -r "$one" evidence/ && found=0; done
    exit $found ;;
esac
"""


@dataclass(frozen=True)
class Ci:
    """A checkout as the first steps leave it, and what GitHub keeps between runs."""

    checkout: Path
    artefacts: Path

    def job(self, name: str, *, run_id: str) -> tuple[list[tuple[str, int]], str]:
        """Run the steps of the job `lab` for a job of the suite; their names with status, and the job summary."""
        run_name = f"ci-{name}-{run_id}-1"
        values = {"matrix.job": name, "github.run_id": run_id, "github.run_attempt": "1", "github.token": "none"}
        values |= {"inputs.capture || 'metadata'": "metadata", "env.RUN_ID": run_name}
        summary = self.checkout / "summary.md"
        summary.write_text("")
        job = WORKFLOW["jobs"]["lab"]
        env = {**self._env(), "GITHUB_STEP_SUMMARY": str(summary), **filled(job["env"], values)}
        done: list[tuple[str, int]] = []
        for step in job["steps"]:
            failed = any(status for _, status in done)
            if failed and not step.get("if", "").startswith("always()"):
                continue
            if "run" in step:
                done.append(
                    (step.get("name", step["run"]), self._bash(step["run"], env | filled(step.get("env", {}), values)))
                )
            elif step["uses"].startswith("actions/upload-artifact"):
                with_values = filled(step["with"], values)
                shutil.copytree(self.checkout / with_values["path"], self.artefacts / with_values["name"])
                ids = self.artefacts / "id"
                ids.write_text(f"{run_id}\n{ids.read_text() if ids.exists() else ''}")
        return done, summary.read_text()

    def matrix(self) -> Any:
        """What the first job hands to the second."""
        output = self.checkout / "output"
        (step,) = (step for step in WORKFLOW["jobs"]["jobs"]["steps"] if step.get("id") == "list")
        assert self._bash(step["run"], {**self._env(), "GITHUB_OUTPUT": str(output)}) == 0
        return json.loads(output.read_text().removeprefix("matrix="))

    def fresh(self) -> None:
        """The next run of the workflow has a checkout without evidence."""
        shutil.rmtree(self.checkout / "evidence")

    def _env(self) -> dict[str, str]:
        tools = self.checkout.parent / "tools"
        path = f"{tools}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "ARTEFACTS": str(self.artefacts), "PYTHONPATH": str(self.checkout)}

    def _bash(self, script: str, env: dict[str, str]) -> int:
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]  # as GitHub's runners call it
        done = subprocess.run(
            argv, cwd=self.checkout, env=env, capture_output=True, text=True, timeout=240, check=False
        )
        sys.stdout.write(f"$ {script}\n{done.stdout}{done.stderr}")
        return done.returncode


def filled(values: dict[str, Any], known: dict[str, str]) -> dict[str, str]:
    """The values with every expression replaced; KeyError for one that nobody foresaw."""
    return {
        name: re.sub(r"\$\{\{ (.+?) \}\}", lambda found: known[found[1]], str(value)) for name, value in values.items()
    }


@pytest.fixture
def ci(tmp_path: Path, images: Path) -> Ci:
    checkout = copy_checkout(tmp_path / "labctl")
    programs = {
        checkout / ".venv" / "bin" / "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
        checkout
        / ".venv"
        / "bin"
        / "labctl": f"#!/bin/sh\nexec {sys.executable} -c 'from driver.cli.main import main; main()' \"$@\"\n",
        tmp_path / "tools" / "gh": GH,
    }
    for path, text in programs.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (checkout / ".venv" / ".installed").touch()
    artefacts = tmp_path / "artefacts"
    artefacts.mkdir()
    return Ci(checkout, artefacts)


def test_the_jobs_of_the_suite_are_the_matrix(ci: Ci) -> None:
    assert [one["job"] for one in ci.matrix()["include"]] == ["clean", "fault", "observe", "fault-observe"]


def test_a_first_run_has_no_baseline_the_next_one_has_it_and_a_regression_fails_with_its_evidence_kept(ci: Ci) -> None:
    done, summary = ci.job("clean", run_id="1")
    assert {status for _, status in done} == {0}
    assert re.search(r"(\d+) planned: \1 passed, 0 failed", summary)
    assert (ci.artefacts / "lab.clean.1.1" / "COMPLETE").is_file()

    ci.fresh()
    done, summary = ci.job("clean", run_id="2")
    assert {status for _, status in done} == {0}
    comparison = json.loads((ci.artefacts / "lab.clean.2.1" / "comparison.json").read_text())
    assert (comparison["verdict"], comparison["baselineRun"]) == ("no-regression", "ci-clean-1-1")
    assert "no-regression" in summary

    ci.fresh()
    settings = ci.checkout / "fixtures" / "suite.toml"
    settings.write_text(re.sub(r'prompt = "[^"]+"', 'prompt = "refund-v7"', settings.read_text(), count=1))
    # made again on main, the second time without an end; then a run that was cancelled
    shutil.copytree(ci.artefacts / "lab.clean.2.1", ci.artefacts / "lab.clean.2.2")
    shutil.copytree(
        ci.artefacts / "lab.clean.2.1", ci.artefacts / "lab.clean.2.10", ignore=shutil.ignore_patterns("COMPLETE")
    )
    (ci.artefacts / "id").write_text("9\n2\n1\n")
    done, summary = ci.job("clean", run_id="3")
    assert dict(done)["run"] == 1
    assert dict(done)["write the job summary"] == 0
    assert "refund-approval-required: pass → fail" in summary
    assert (ci.artefacts / "lab.clean.3.1" / "COMPLETE").is_file()
    assert sorted(one.name for one in (ci.checkout / "evidence").iterdir()) == ["ci-clean-3-1", "lab.clean.2.2"]


def test_no_step_can_pair_two_jobs() -> None:
    names = [f"lab.{job}.7.1" for job in ("clean", "fault", "observe", "fault-observe")]
    pattern = "lab.{job}.*"
    assert f'--pattern "{pattern.format(job="$JOB")}"' in str(WORKFLOW["jobs"]["lab"]["steps"])
    for job in ("clean", "fault", "observe", "fault-observe"):
        found = [name for name in names if fnmatchcase(name, pattern.format(job=job))]
        assert found == [f"lab.{job}.7.1"]
    (run,) = (step["run"] for step in WORKFLOW["jobs"]["lab"]["steps"] if step.get("name") == "run")
    assert re.findall(r"--baseline (\S+)", run) == ['"latest:$JOB"']


def test_a_run_that_keeps_bodies_is_uploaded_only_when_that_was_asked_for() -> None:
    (upload,) = (step for step in WORKFLOW["jobs"]["lab"]["steps"] if step.get("uses", "").startswith("actions/upload"))
    assert upload["if"] == "always() && (env.CAPTURE != 'payloads' || inputs.upload-payloads)"
    assert upload["with"]["name"] == "lab.${{ matrix.job }}.${{ github.run_id }}.${{ github.run_attempt }}"
    inputs = WORKFLOW["on"]["workflow_dispatch"]["inputs"]
    assert inputs["upload-payloads"]["default"] is False
