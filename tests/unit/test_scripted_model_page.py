"""What docs/scripted-model.md shows is what the scripted model does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.fakes.open_world import OpenAttempt, case, open_attempt
from tests.fakes.suite_folder import TOOL, SuiteFolder
from tests.fakes.suite_problems import problems

PAGE = (Path(__file__).parents[2] / "docs" / "scripted-model.md").read_text()
PATH = "/v1/chat/completions"
CASES = ["where-is-it", "rate-limited", "line-drops"]


def example(folder: Path) -> OpenAttempt:
    shown = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    rules = json.loads(shown[1])["rules"]
    opening = {"case": CASES[0], "model": "scripted/support"}
    return open_attempt(folder, rules=rules, cases=[case(name) for name in CASES], tools=[TOOL], opening=opening)


def asking(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], **more}


def test_the_missing_rule_that_is_shown(tmp_path: Path) -> None:
    status, body = example(tmp_path).read("POST", PATH, asking("Hello"))
    assert f"Error code: {status} - {body['error']['message']}\n" in PAGE


def test_the_stream_that_is_shown(tmp_path: Path) -> None:
    sent = example(tmp_path).ask("POST", PATH, asking("Where is it?", stream=True)).answer.body.decode()
    shown = re.sub(r'^data: \{.*?"choices"', 'data: {…,"choices"', sent, flags=re.MULTILINE).replace("\n\n", "\n")
    assert shown.count("…") == 5
    assert f"```\n{shown}```" in PAGE


def test_the_dead_rule_that_is_shown(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "desk")
    folder.rules.append({"when": {"turn": 2}, "reply": {"text": "x"}})
    (found,) = problems(folder)
    shown = re.search(r"^found: (.*never answer.*)$", PAGE, re.MULTILINE)
    assert shown
    assert found == shown[1]
