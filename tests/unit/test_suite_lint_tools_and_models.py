"""Every rule of tools.json and models/: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.suite_changes import NO_TOOL, BrokenRule, Change, both, expect, rule, second_case, tool
from tests.fakes.suite_folder import RULE, TOOL
from tests.fakes.suite_problems import assert_exact_problem

DEAD: list[tuple[str, list[dict[str, Any]], str, str]] = [
    ("one without when", [{}, {"turn": 2}], "/rules/1 (line 9)", "can never answer: rules/0 comes first"),
    (
        "its equal",
        [{"case": "greets", "turn": 2}, {"case": "greets", "turn": 2}],
        "/rules/1 (line 12)",
        "rules/0 comes first",
    ),
    (
        "one that asks for less",
        [{"case": "greets"}, {"lastTool": "lookup_order"}, {"prompt": "polite", "lastTool": "lookup_order"}],
        "/rules/2 (line 19)",
        "rules/1 comes first",
    ),
    ("the same regex", [{"text": "a|b"}, {"text": "a|b", "turn": 1}], "/rules/1 (line 11)", "rules/0 comes first"),
    (
        "a part of its words",
        [{"text": "refund"}, {"text": "a refund, please"}],
        "/rules/1 (line 11)",
        "rules/0 comes first",
    ),
]


def dead(*whens: dict[str, Any]) -> Change:
    """Rules of which the last can never answer."""
    return lambda folder: folder.rules.__setitem__(slice(None), [{"when": when, **RULE} for when in whens])


TOOLS_AND_MODELS: list[BrokenRule] = [
    (
        "a tool that no route answers",
        tool(http={"method": "GET", "path": "/order/{order_id}"}),
        "tools.json /tools/0/http (line 16)",
        'no route of the suite or of a case can answer "GET /order/{order_id}"; did you mean "GET /orders/{order_id}"?',
    ),
    (
        "a tool of another method than its route",
        tool(http={"method": "POST", "path": "/orders/{order_id}"}),
        "tools.json /tools/0/http (line 16)",
        'can answer "POST /orders/{order_id}"; did you mean "GET /orders/{order_id}"?',
    ),
    (
        "a tool that is forbidden here and expected there, and that no route is near",
        both(
            tool(http={"method": "PUT", "path": "/nowhere"}),
            expect(neverTools=["lookup_order"]),
            second_case(expect={"toolCalls": [{"name": "lookup_order"}]}),
        ),
        "tools.json /tools/0/http (line 16)",
        'can answer "PUT /nowhere"',
    ),
    (
        "a tool that is there twice",
        lambda folder: folder.tools.append({**TOOL, "http": None}),
        "tools.json /tools/1/function/name (line 24)",
        "is there twice",
    ),
    (
        "a tool name with a dot",
        tool(function={"name": "look.up"}),
        "tools.json /tools/0/function/name (line 6)",
        "is no tool name",
    ),
    (
        "parameters that are no object",
        tool(function={"parameters": {"type": "array"}}, http=None),
        "tools.json /tools/0/function/parameters (line 7)",
        '"type": "object"',
    ),
    (
        "a path parameter that the tool has not",
        tool(http={"method": "GET", "path": "/orders/{order}"}),
        "tools.json /tools/0/http/path (line 18)",
        'unknown parameter of the tool "order"; did you mean "order_id"?',
    ),
    (
        "two tools for the same requests",
        lambda folder: folder.tools.append({**TOOL, "function": {**TOOL["function"], "name": "second"}}),  # type: ignore[dict-item]
        "tools.json /tools/1/http (line 34)",
        'bound to the same requests as "lookup_order"',
    ),
    (
        "a parameter of a path that is none",
        tool(http={"method": "GET", "path": "/orders/{order id}"}),
        "tools.json /tools/0/http/path (line 18)",
        "a parameter is a whole segment",
    ),
    (
        "tools that differ by case",
        lambda folder: folder.tools.append({"type": "function", "function": {"name": "Lookup_Order"}}),
        "tools.json /tools/1/function/name (line 24)",
        "only by case or Unicode form",
    ),
    (
        "a tool that is no function",
        tool(type="tool"),
        "tools.json /tools/0/type (line 4)",
        'expected "function", found the text "tool"',
    ),
    (
        "a tool with an empty name",
        tool(function={"name": ""}),
        "tools.json /tools/0/function/name (line 6)",
        "expected at least 1 characters",
    ),
    (
        "parameters without type",
        tool(function={"parameters": {"properties": {}}}, http=None),
        "tools.json /tools/0/function/parameters (line 7)",
        "found none",
    ),
    (
        "parameters that are a list",
        tool(function={"parameters": {"type": "object", "properties": []}}, http=None),
        "tools.json /tools/0/function/parameters/properties (line 9)",
        "expected an object, found a list",
    ),
    (
        "needed parameters that are a text",
        tool(function={"parameters": {"type": "object", "required": "a"}}, http=None),
        "tools.json /tools/0/function/parameters/required (line 9)",
        'expected a list of names, found the text "a"',
    ),
    (
        "a needed parameter that the tool has not",
        tool(function={"parameters": {**TOOL["function"]["parameters"], "required": ["order"]}}),  # type: ignore[index]
        "tools.json /tools/0/function/parameters/required/0 (line 15)",
        'unknown parameter of the tool "order"; did you mean "order_id"?',
    ),
    (
        "parameters that are no JSON Schema",
        tool(function={"parameters": {"type": "object", "properties": {"a": {"type": "txt"}}}}, http=None),
        "tools.json /tools/0/function/parameters (line 7)",
        "no valid JSON Schema: /properties/a/type",
    ),
    (
        "a binding with an unknown method",
        tool(http={"method": "GTE", "path": "/a"}),
        "tools.json /tools/0/http/method (line 17)",
        'did you mean "GET"?',
    ),
    (
        "a binding to the lab's own path",
        tool(http={"method": "POST", "path": "/mcp"}),
        "tools.json /tools/0/http/path (line 18)",
        "the fixture API itself",
    ),
    (
        "a binding without path",
        tool(http={"method": "GET"}),
        "tools.json /tools/0/http (line 16)",
        'the key "path" is missing',
    ),
    ("no rule", lambda folder: folder.rules.clear(), "models/support.json /rules (line 2)", "at least 1 items"),
    (
        "a reply that says nothing",
        rule(reply={"usage": {}}),
        "models/support.json /rules/0/reply (line 7)",
        "says nothing",
    ),
    (
        "a cut and nothing else",
        rule(reply={"cut": True}),
        "models/support.json /rules/0/reply (line 7)",
        "says nothing",
    ),
    (
        "an error with text",
        rule(reply={"text": "a", "error": {"status": 500}}),
        "models/support.json /rules/0/reply (line 7)",
        "expected no text",
    ),
    (
        "an error with calls",
        rule(reply={"toolCalls": [{"name": "lookup_order"}], "error": {"status": 500}}),
        "models/support.json /rules/0/reply (line 7)",
        "expected no toolCalls",
    ),
    (
        "an error with usage and cut",
        rule(reply={"usage": {}, "cut": True, "error": {"status": 500}}),
        "models/support.json /rules/0/reply (line 7)",
        "an error is answered alone; expected no usage and no cut beside it",
    ),
    (
        "an error that is none",
        rule(reply={"error": {"status": 200}}),
        "models/support.json /rules/0/reply/error/status (line 9)",
        "at least 400",
    ),
    (
        "an error's bad header",
        rule(reply={"error": {"status": 500, "headers": {"a": "\n"}}}),
        "models/support.json /rules/0/reply/error/headers/a (line 11)",
        "cannot carry",
    ),
    (
        "an error's header of the connection",
        rule(reply={"error": {"status": 500, "headers": {"Date": "now"}}}),
        "models/support.json /rules/0/reply/error/headers/Date (line 11)",
        "belongs to the connection",
    ),
    (
        "a bad regex in a rule",
        rule({"text": "["}),
        "models/support.json /rules/0/when/text (line 5)",
        "no valid regular expression",
    ),
    (
        "an unknown case in a rule",
        rule({"case": "greet"}),
        "models/support.json /rules/0/when/case (line 5)",
        'did you mean "greets"?',
    ),
    (
        "an unknown prompt in a rule",
        rule({"prompt": "polit"}),
        "models/support.json /rules/0/when/prompt (line 5)",
        'did you mean "polite"?',
    ),
    (
        "an unknown last tool",
        rule({"lastTool": "refund"}),
        "models/support.json /rules/0/when/lastTool (line 5)",
        "known: lookup_order",
    ),
    (
        "a typo of a called tool",
        rule(reply={"toolCalls": [{"name": "lookup_ordr"}]}),
        "models/support.json /rules/0/reply/toolCalls/0/name (line 10)",
        NO_TOOL,
    ),
    (
        "a last status that is none",
        rule({"lastStatus": 20}),
        "models/support.json /rules/0/when/lastStatus (line 5)",
        "at least 200",
    ),
    (
        "a tool's result in the first turn",
        rule({"turn": 1, "lastTool": "lookup_order"}),
        "models/support.json /rules/0/when/turn (line 5)",
        "expected 2 or more",
    ),
    (
        "a last status in the first turn",
        rule({"turn": 1, "lastStatus": 200}),
        "models/support.json /rules/0/when/turn (line 5)",
        "can never hold",
    ),
    *[(f"a rule after {name}", dead(*whens), f"models/support.json {at}", words) for name, whens, at, words in DEAD],
    (
        "an unknown key of a rule",
        rule({"lasttool": "lookup_order"}),
        "models/support.json /rules/0/when/lasttool (line 5)",
        'did you mean "lastTool"?',
    ),
]


@pytest.mark.parametrize(
    ("change", "place", "words"), [pytest.param(*rest, id=name) for name, *rest in TOOLS_AND_MODELS]
)
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)
