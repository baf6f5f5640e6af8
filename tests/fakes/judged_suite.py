"""A suite whose statements tell the scripted judge what to answer, and its agent's texts, some of them hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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

RULES = [
    {"when": {"text": f'^The statement, as a JSON string:\n"{statement}"\n'}, "reply": reply}
    for statement, (reply, _) in ANSWERS.items()
]


def judge_house(root: Path) -> Path:
    """A suite that serves `scripted/judge`."""
    settings = SETTINGS.replace("scripted/support", MODEL)
    return SuiteFolder(root, settings=settings, texts={"models/judge.json": json.dumps({"rules": RULES})}).write()


def judged_case(name: str, *statements: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "input": "hello", "expect": {"relevance": list(statements)}, **keys}
