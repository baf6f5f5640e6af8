"""The real docker-agent against the scripted model and the fixture API's tools; skipped where it is not on the path."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.control_suites import ROUTES, TOOLS

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("docker-agent") is None, reason="no program docker-agent on the path")

AGENT = """\
providers:
  scripted:
    base_url: "${env.MODEL_URL}"
    api_type: openai_chatcompletions
agents:
  root:
    model: scripted/talker
    description: looks things up
    instruction: Look it up.
    toolsets:
      - type: think
"""
SETTINGS = """\
default_agent = "desk"
[agents.desk]
adapter = "docker-agent"
file = "../agent.yaml"
fixture_tools = true
"""
RULES = [
    {"when": {"lastTool": "lookup"}, "reply": {"text": "done"}},
    {"when": {"text": "look"}, "reply": {"toolCalls": [{"name": "lookup", "arguments": {"id": "1"}}]}},
    {"when": {"text": "fail"}, "reply": {"error": {"status": 500}}},
]
CASES: list[dict[str, Any]] = [
    {
        "id": "looks-it-up",
        "input": "look",
        "expect": {
            "toolCalls": [{"name": "lookup", "arguments": {"id": "1"}}],
            "toolMatch": "strict",
            "assertions": [{"type": "equals", "value": "done"}],
        },
    },
    {"id": "model-fails", "input": "fail", "expect": {"size": "S"}},
]


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    root = tmp_path_factory.mktemp("real")
    evals = root / "evals"
    (evals / "models").mkdir(parents=True)
    (root / "agent.yaml").write_text(AGENT)
    (evals / "suite.toml").write_text(SETTINGS)
    (evals / "cases.json").write_text(json.dumps({"cases": CASES}))
    (evals / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (evals / "routes.json").write_text(json.dumps({"routes": ROUTES}))
    (evals / "state.json").write_text(json.dumps({"payments": []}))
    (evals / "models" / "talker.json").write_text(json.dumps({"rules": RULES}))
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", "run", str(evals)]
    done = subprocess.run(
        [*argv, "--backend", "process", "--evidence", str(root / "runs"), "--capture", "payloads"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in {0, 1, 3}, done.stderr
    lines = Path(done.stdout.splitlines()[-1], "traces", "attempts.jsonl").read_text().splitlines()
    return {one["caseId"]: one for one in map(json.loads, lines)}


def test_it_calls_the_fixture_apis_tools_and_answers(attempts: dict[str, dict[str, Any]]) -> None:
    attempt = attempts["looks-it-up"]
    assert attempt["outcome"] == "pass", attempt


def test_a_scripted_model_that_fails_is_no_provider_of_the_outside(attempts: dict[str, dict[str, Any]]) -> None:
    attempt = attempts["model-fails"]
    assert (attempt["outcome"], attempt["class"]) == ("fail", "agent-error"), attempt
