"""Every rule of cases.json: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import NO_TOOL, BrokenRule, Change, assertion, case, expect, second_case
from tests.fakes.suite_folder import ROUTE
from tests.fakes.suite_problems import assert_only_problem

CASES: list[BrokenRule] = [
    ("a case without expectation", case(expect={}), "cases.json /cases/0/expect (line 6)", "expects nothing"),
    (
        "an id that is there twice",
        second_case(id="greets"),
        "cases.json /cases/1/id",
        'the case id "greets" is there twice',
    ),
    ("an unknown key of a case", case(expekt={}), "cases.json /cases/0/expekt", 'did you mean "expect"?'),
    ("a missing key", second_case(input=None), "cases.json /cases/1/input", "expected text or a list, found null"),
    ("text for a number", case(limits={"seconds": "3"}), "cases.json /cases/0/limits/seconds", 'found the text "3"'),
    (
        "true for a number",
        case(limits={"tool_calls": True}),
        "/cases/0/limits/tool_calls",
        "a whole number, found true",
    ),
    (
        "a number for true",
        case(protected=1),
        "cases.json /cases/0/protected",
        "expected true or false, found the number 1",
    ),
    ("a snake_case key", expect(tool_calls=[]), "cases.json /cases/0/expect/tool_calls", 'did you mean "toolCalls"?'),
    (
        "an assistant message",
        case(input=[{"role": "assistant", "content": ""}]),
        "/cases/0/input/0/role",
        'expected "user"',
    ),
    ("an empty conversation", case(input=[]), "cases.json /cases/0/input", "at least 1 items"),
    ("an unknown toolMatch", expect(toolMatch="strickt"), "/cases/0/expect/toolMatch", 'did you mean "strict"?'),
    ("a minF1 above 1", expect(minF1=2), "/cases/0/expect/minF1", "expected at most 1, found the number 2"),
    (
        "a bad pointer",
        expect(state=[{"pointer": "a", "equals": 1}]),
        "/expect/state/0/pointer",
        "a JSON pointer (RFC 6901)",
    ),
    (
        "a state without equals",
        expect(state=[{"pointer": "/a"}]),
        "/cases/0/expect/state/0",
        'the key "equals" is missing',
    ),
    ("an unknown expected tool", expect(toolCalls=[{"name": "lookup_ordr"}]), "/expect/toolCalls/0/name", NO_TOOL),
    ("an unknown never tool", expect(neverTools=["lookup_ordr"]), "/cases/0/expect/neverTools/0", NO_TOOL),
    ("an unknown denied tool", expect(deniedTools=["lookup_ordr"]), "/cases/0/expect/deniedTools/0", NO_TOOL),
    ("an unknown tool in an order", expect(toolOrder=[["lookup_order", "lookup_ordr"]]), "/toolOrder/0/1", NO_TOOL),
    ("an unknown asserted tool", assertion("tool_called", "lookup_ordr"), "/expect/assertions/0/value", NO_TOOL),
    ("an order of one", expect(toolOrder=[["lookup_order"]]), "/expect/toolOrder/0", "expected 2 items at least"),
    ("an order of three", expect(toolOrder=[["lookup_order"] * 3]), "/expect/toolOrder/0", "expected at most 2 items"),
    ("an unknown assertion", assertion("contain", "x"), "/expect/assertions/0/type", 'did you mean "contains"?'),
    (
        "a number to contain",
        assertion("contains", 3),
        "/expect/assertions/0/value",
        "expected text, found the number 3",
    ),
    (
        "a bad regex",
        assertion("Regex", "("),
        "/expect/assertions/0/value",
        "no valid regular expression (RE2): missing )",
    ),
    (
        "a look-ahead, which RE2 has not",
        assertion("regex", "(?=a)"),
        "/assertions/0/value",
        "(RE2): invalid perl operator",
    ),
    ("a schema of no type", assertion("json_schema", {"type": "objct"}), "/assertions/0/value", "JSON Schema: /type: "),
    ("a schema that is text", assertion("json_schema", "{}"), "/assertions/0/value", "expected a JSON Schema"),
    ("a negative cost", assertion("cost_threshold", -1), "/assertions/0/value", "US dollars, at least 0"),
    (
        "a fault on no route",
        case(faults={"responses": [{"route": "read-ordr", "kind": "empty"}]}),
        "/cases/0/faults/responses/0/route",
        'unknown route "read-ordr"; did you mean "read-order"?',
    ),
    (
        "a fault value of the wrong kind",
        case(faults={"responses": [{"route": "read-order", "kind": "status", "value": 99}]}),
        "/cases/0/faults/responses/0/value",
        "from 200 to 599",
    ),
    (
        "an own route with a suite's id",
        case(routes=[ROUTE]),
        "/cases/0/routes/0/id",
        'the route id "read-order" is there twice',
    ),
    (
        "a working directory that is not there",
        case(working_dir="repo"),
        "/cases/0/working_dir",
        'no folder "working_dirs/repo"',
    ),
    ("a working directory outside", case(working_dir="../.."), "/cases/0/working_dir", "leads outside the suite"),
    (
        "the whole of working_dirs",
        case(working_dir="."),
        "/cases/0/working_dir",
        "no folder",
    ),
]


@pytest.mark.parametrize(("change", "where", "words"), [pytest.param(*rest, id=name) for name, *rest in CASES])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, where: str, words: str) -> None:
    assert_only_problem(tmp_path, change, where=where, words=words)
