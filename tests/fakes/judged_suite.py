"""A suite whose statements tell the scripted judge what to answer, and its agent's texts, some of them hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.suite_folder import SETTINGS, SuiteFolder

MODEL = "scripted/judge"
TOOL = "judge_response"


def says(result: str, reason: str = "The transcript shows it.") -> dict[str, Any]:
    return {"toolCalls": [{"name": TOOL, "arguments": {"reason": reason, "result": result}}]}


ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "holds": (says("pass"), "pass"),
    "does not hold": (says("fail", "The agent never said so."), "fail"),
    "grade": ({"text": "Grade: C"}, "instead of calling judge_response"),
    "silent": ({"text": ""}, "the judge answered nothing"),
    "brackets": ({"text": "[[90]]"}, "instead of calling judge_response"),
    "both": ({"text": "PASS, since it is polite. On reflection: FAIL"}, "instead of calling judge_response"),
    "rambling": ({"text": "Well. " * 2000 + "pass"}, "instead of calling judge_response"),
    "cut json": ({"text": '{"reason": "it is polite", "resu'}, "instead of calling judge_response"),
    "json text": ({"text": '{"reason": "r", "result": "pass"}'}, "instead of calling judge_response"),
    "error": ({"error": {"status": 500}}, "the model's service answered 500 (3 tries)"),
    "refused": ({"error": {"status": 401}}, "the model's service answered 401"),
    "twice": ({"toolCalls": says("pass")["toolCalls"] * 2}, "made 2 calls instead of one"),
    "other tool": ({"toolCalls": [{"name": "approve", "arguments": {}}]}, "another tool than judge_response"),
    "shouting": (says("PASS"), "neither pass nor fail"),
    "no reason": (says("pass", " "), "gave no reason"),
    "extra field": (
        {"toolCalls": [{"name": TOOL, "arguments": {"reason": "r", "result": "pass", "score": 1}}]},
        "other fields than reason and result",
    ),
}
"""A statement to what the judge answers it, and the outcome or a part of the reason why there is none."""


def rule_of(statement: str, reply: dict[str, Any]) -> dict[str, Any]:
    """What makes the scripted model the judge of a statement; an empty one stands for every other."""
    asked = re.escape(json.dumps(statement)) if statement else ".*"
    return {"when": {"text": f"^The statement, as a JSON string:\n{asked}\n"}, "reply": reply}


def judge_house(root: Path, replies: dict[str, dict[str, Any]]) -> Path:
    """A suite that serves `scripted/judge`; `replies` are by statement, in the order in which they are tried."""
    settings = SETTINGS.replace("scripted/support", MODEL)
    rules = [rule_of(statement, reply) for statement, reply in replies.items()]
    return SuiteFolder(root, settings=settings, texts={"models/judge.json": json.dumps({"rules": rules})}).write()


@contextmanager
def scripted_judge(root: Path, replies: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The judge on real HTTP, in a process of its own. Yields its URL."""
    with FixtureProcess(judge_house(root, replies)) as house:
        prefix = house.open("greets", model=MODEL, prompt="polite", model_call_limit=100_000)
        yield f"http://127.0.0.1:{house.data_port}{prefix}/v1"


def judged_case(name: str, *statements: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "input": "hello", "expect": {"relevance": list(statements)}, **keys}
