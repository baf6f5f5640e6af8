"""A suite with twelve problems, through the command line: all of them at once, in file order, each once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.suite_folder import SuiteFolder

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "lint.md"


def twelve_problems(root: Path) -> Path:
    folder = SuiteFolder(root)
    folder.settings = 'timezone = "Europe/Berln"\n' + folder.settings.replace('prompt = "polite"', 'prompt = "polit"')
    folder.settings += '\n[jobs.nightly]\nprofile = ["fault"]\n'
    folder.cases[0]["faults"] = {
        "network": [{"type": "latency", "attributes": {"latency": 200, "jitter": 50}}],
        "responses": [
            {"route": "read-order", "kind": "status", "times": 2},
            {"route": "read-order", "kind": "timeout", "skip": 1},
        ],
    }
    folder.cases += [
        {"id": "asks", "input": "where is my order?", "expect": {"toolCalls": [{"name": "lookup_ordr"}]}},
        {"id": "thanks", "input": "thank you", "expect": {}},
    ]
    folder.routes[0] |= {"method": "GTE", "responses": [{"json": {"$state": "/orders/{order}"}}]}
    folder.tools[0]["function"]["parameters"]["required"] = ["order"]
    folder.texts["state.json"] = '{\n "orders": {},\n "orders": {"a-1": {}}\n}\n'
    folder.rules.insert(0, {"when": {"case": "greet"}, "reply": {"text": "hello"}})
    return folder.write()


def lint(suite: Path) -> subprocess.CompletedProcess[str]:
    code = "from driver.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-c", code, "cases", "lint", suite.name]
    return subprocess.run(
        arguments, cwd=suite.parent, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_twelve_problems_in_six_files_are_twelve_and_stand_in_the_docs_as_they_are_told(tmp_path: Path) -> None:
    done = lint(twelve_problems(tmp_path / "desk"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("found: ") == 12
    assert f"```console\n$ labctl cases lint desk\n{done.stderr}```" in PAGE.read_text()


def test_one_after_the_other_the_problems_go_away(tmp_path: Path) -> None:
    done = lint(SuiteFolder(tmp_path / "desk").write())
    assert (done.returncode, done.stdout) == (0, "desk: 1 cases, 1 routes, 1 tools: no problem\n")
