"""Every rule of tools.json and models/: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.suite_changes import NO_TOOL, BrokenRule, Change, rule, tool
from tests.fakes.suite_folder import RULE, TOOL
from tests.fakes.suite_problems import assert_only_problem

DEAD: list[tuple[str, list[dict[str, Any]], str]] = [
    ("one without when", [{}, {"turn": 2}], "can never answer: rules/0 comes first"),
    ("its equal", [{"case": "greets", "turn": 2}, {"case": "greets", "turn": 2}], "rules/0 comes first"),
    (
        "one that asks for less",
        [{"case": "greets"}, {"lastTool": "lookup_order"}, {"prompt": "polite", "lastTool": "lookup_order"}],
        "rules/1 comes first",
    ),
    ("the same regex", [{"text": "a|b"}, {"text": "a|b", "turn": 1}], "rules/0 comes first"),
    ("a part of its words", [{"text": "refund"}, {"text": "a refund, please"}], "rules/0 comes first"),
]


def dead(*whens: dict[str, Any]) -> Change:
    """Rules of which the last can never answer."""
    return lambda folder: folder.rules.__setitem__(slice(None), [{"when": when, **RULE} for when in whens])


TOOLS_AND_MODELS: list[BrokenRule] = [
    (
        "a tool that is there twice",
        lambda folder: folder.tools.append({**TOOL, "http": None}),
        "tools.json /tools/1/function/name",
        "is there twice",
    ),
    ("a tool name with a dot", tool(function={"name": "look.up"}), "/tools/0/function/name", "is no tool name"),
    (
        "parameters that are no object",
        tool(function={"parameters": {"type": "array"}}, http=None),
        "/tools/0/function/parameters",
        '"type": "object"',
    ),
    (
        "a path parameter that the tool has not",
        tool(http={"method": "GET", "path": "/orders/{order}"}),
        "/tools/0/http/path",
        'unknown parameter of the tool "order"; did you mean "order_id"?',
    ),
    (
        "two tools for the same requests",
        lambda folder: folder.tools.append({**TOOL, "function": {**TOOL["function"], "name": "second"}}),  # type: ignore[dict-item]
        "tools.json /tools/1/http",
        'bound to the same requests as "lookup_order"',
    ),
    ("no rule", lambda folder: folder.rules.clear(), "models/support.json /rules", "at least 1 items"),
    ("a reply that says nothing", rule(reply={"usage": {}}), "models/support.json /rules/0/reply", "says nothing"),
    ("a cut and nothing else", rule(reply={"cut": True}), "models/support.json /rules/0/reply", "says nothing"),
    ("an error with text", rule(reply={"text": "a", "error": {"status": 500}}), "/rules/0/reply", "expected no text"),
    (
        "an error with calls",
        rule(reply={"toolCalls": [{"name": "lookup_order"}], "error": {"status": 500}}),
        "/rules/0/reply",
        "expected no toolCalls",
    ),
    (
        "an error with usage and cut",
        rule(reply={"usage": {}, "cut": True, "error": {"status": 500}}),
        "/rules/0/reply",
        "an error is answered alone; expected no usage and no cut beside it",
    ),
    ("an error that is none", rule(reply={"error": {"status": 200}}), "/rules/0/reply/error/status", "at least 400"),
    (
        "an error's bad header",
        rule(reply={"error": {"status": 500, "headers": {"a": "\n"}}}),
        "/headers/a",
        "cannot carry",
    ),
    (
        "an error's header of the connection",
        rule(reply={"error": {"status": 500, "headers": {"Date": "now"}}}),
        "/rules/0/reply/error/headers/Date",
        "belongs to the connection",
    ),
    ("a bad regex in a rule", rule({"text": "["}), "/rules/0/when/text", "no valid regular expression"),
    ("an unknown case in a rule", rule({"case": "greet"}), "/rules/0/when/case", 'did you mean "greets"?'),
    ("an unknown prompt in a rule", rule({"prompt": "polit"}), "/rules/0/when/prompt", 'did you mean "polite"?'),
    ("an unknown last tool", rule({"lastTool": "refund"}), "/rules/0/when/lastTool", "known: lookup_order"),
    ("a typo of a called tool", rule(reply={"toolCalls": [{"name": "lookup_ordr"}]}), "/toolCalls/0/name", NO_TOOL),
    ("a last status that is none", rule({"lastStatus": 20}), "/rules/0/when/lastStatus", "at least 200"),
    (
        "a tool's result in the first turn",
        rule({"turn": 1, "lastTool": "lookup_order"}),
        "/rules/0/when/turn",
        "expected 2 or more",
    ),
    ("a last status in the first turn", rule({"turn": 1, "lastStatus": 200}), "/rules/0/when/turn", "can never hold"),
    *[(f"a rule after {name}", dead(*whens), f"/rules/{len(whens) - 1} ", words) for name, whens, words in DEAD],
    (
        "an unknown key of a rule",
        rule({"lasttool": "lookup_order"}),
        "/rules/0/when/lasttool",
        'did you mean "lastTool"?',
    ),
]


@pytest.mark.parametrize(
    ("change", "where", "words"), [pytest.param(*rest, id=name) for name, *rest in TOOLS_AND_MODELS]
)
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, where: str, words: str) -> None:
    assert_only_problem(tmp_path, change, where=where, words=words)
