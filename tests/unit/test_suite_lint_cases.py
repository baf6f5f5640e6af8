"""Every rule of cases.json: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import (
    NO_TOOL,
    BrokenRule,
    Change,
    assertion,
    both,
    case,
    expect,
    file,
    link,
    misspelt,
    second_case,
)
from tests.fakes.suite_folder import ROUTE, SuiteFolder
from tests.fakes.suite_problems import assert_exact_problem


def limit_of_5000_digits(folder: SuiteFolder) -> None:
    written = '{"cases": [{"id": "a", "input": "b", "expect": {"size": "S"}, "limits": {"tool_calls": 1}}]}'
    folder.texts["cases.json"] = written.replace(": 1}", ": " + "9" * 5000 + "}")


CASES: list[BrokenRule] = [
    (
        "a limit beyond all numbers",
        case(limits={"seconds": float("inf")}),
        "cases.json /cases/0/limits/seconds (line 15)",
        "Infinity cannot be used",
    ),
    (
        "a limit of 5000 digits",
        limit_of_5000_digits,
        "cases.json /cases/0/limits/tool_calls (line 1)",
        "9" * 40 + "… cannot be used",
    ),
    ("a case without expectation", case(expect={}), "cases.json /cases/0/expect (line 6)", "expects nothing"),
    (
        "an id that is there twice",
        second_case(id="greets"),
        "cases.json /cases/1/id (line 16)",
        'the case id "greets" is there twice',
    ),
    (
        "an id with a capital letter",
        second_case(id="Second One"),
        "cases.json /cases/1/id (line 16)",
        'did you mean "second-one"?',
    ),
    (
        "a misspelt needed key",
        misspelt("input", "inptu"),
        "cases.json /cases/0/inptu (line 13)",
        'unknown key "inptu"; did you mean "input"?',
    ),
    (
        "a missing needed key",
        lambda folder: folder.cases[0].pop("input"),
        "cases.json /cases/0 (line 3)",
        'the key "input" is missing',
    ),
    (
        "a number for a title",
        case(title=3),
        "cases.json /cases/0/title (line 14)",
        'expected text, found the number 3; put it in quotes: "3"',
    ),
    ("an object for a list", case(tags={}), "cases.json /cases/0/tags (line 14)", "expected a list, found an object"),
    (
        "a list for an object",
        case(limits=[]),
        "cases.json /cases/0/limits (line 14)",
        "expected an object, found a list",
    ),
    (
        "an own state that is no object",
        case(state=[]),
        "cases.json /cases/0/state (line 14)",
        "expected an object, found a list",
    ),
    (
        "a limit of no time",
        case(limits={"seconds": 0}),
        "cases.json /cases/0/limits/seconds (line 15)",
        "expected more than 0, found the number 0",
    ),
    (
        "a negative limit",
        case(limits={"tool_calls": -1}),
        "cases.json /cases/0/limits/tool_calls (line 15)",
        "expected at least 0, found the number -1",
    ),
    (
        "an unknown size",
        expect(size="XXL"),
        "cases.json /cases/0/expect/size (line 13)",
        'expected "S", "M", "L" or "XL", found the text "XXL"',
    ),
    (
        "an unknown word for unmatched",
        expect(unmatchedRequests="alow"),
        "cases.json /cases/0/expect/unmatchedRequests (line 13)",
        'did you mean "allow"?',
    ),
    (
        "a key like no other",
        case(zzzz=1),
        "cases.json /cases/0/zzzz (line 14)",
        'unknown key "zzzz"; known: expect, faults, id, image',
    ),
    ("an unknown key of a case", case(expekt={}), "cases.json /cases/0/expekt (line 14)", 'did you mean "expect"?'),
    (
        "a missing key",
        second_case(input=None),
        "cases.json /cases/1/input (line 17)",
        "expected text or a list, found null",
    ),
    (
        "text for a number",
        case(limits={"seconds": "3"}),
        "cases.json /cases/0/limits/seconds (line 15)",
        'found the text "3"',
    ),
    (
        "true for a number",
        case(limits={"tool_calls": True}),
        "cases.json /cases/0/limits/tool_calls (line 15)",
        "a whole number, found true",
    ),
    (
        "a number for true",
        case(protected=1),
        "cases.json /cases/0/protected (line 14)",
        "expected true or false, found the number 1",
    ),
    (
        "a snake_case key",
        expect(tool_calls=[]),
        "cases.json /cases/0/expect/tool_calls (line 13)",
        'did you mean "toolCalls"?',
    ),
    (
        "an assistant message",
        case(input=[{"role": "assistant", "content": ""}]),
        "cases.json /cases/0/input/0/role (line 7)",
        'expected "user"',
    ),
    ("an empty conversation", case(input=[]), "cases.json /cases/0/input (line 5)", "at least 1 items"),
    (
        "an unknown toolMatch",
        expect(toolMatch="strickt"),
        "cases.json /cases/0/expect/toolMatch (line 13)",
        'did you mean "strict"?',
    ),
    (
        "a minF1 above 1",
        expect(minF1=2),
        "cases.json /cases/0/expect/minF1 (line 13)",
        "expected at most 1, found the number 2",
    ),
    (
        "a bad pointer",
        expect(state=[{"pointer": "a", "equals": 1}]),
        "cases.json /cases/0/expect/state/0/pointer (line 15)",
        "a JSON pointer (RFC 6901)",
    ),
    (
        "a state without equals",
        expect(state=[{"pointer": "/a"}]),
        "cases.json /cases/0/expect/state/0 (line 14)",
        'the key "equals" is missing',
    ),
    (
        "an unknown expected tool",
        expect(toolCalls=[{"name": "lookup_ordr"}]),
        "cases.json /cases/0/expect/toolCalls/0/name (line 15)",
        NO_TOOL,
    ),
    (
        "an unknown never tool",
        expect(neverTools=["lookup_ordr"]),
        "cases.json /cases/0/expect/neverTools/0 (line 14)",
        NO_TOOL,
    ),
    (
        "an unknown denied tool",
        expect(deniedTools=["lookup_ordr"]),
        "cases.json /cases/0/expect/deniedTools/0 (line 14)",
        NO_TOOL,
    ),
    (
        "an unknown tool in an order",
        expect(toolOrder=[["lookup_order", "lookup_ordr"]]),
        "cases.json /cases/0/expect/toolOrder/0/1 (line 16)",
        NO_TOOL,
    ),
    (
        "an unknown asserted tool",
        assertion("tool_called", "lookup_ordr"),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        NO_TOOL,
    ),
    (
        "an order of one",
        expect(toolOrder=[["lookup_order"]]),
        "cases.json /cases/0/expect/toolOrder/0 (line 14)",
        "expected 2 items at least",
    ),
    (
        "an order of three",
        expect(toolOrder=[["lookup_order"] * 3]),
        "cases.json /cases/0/expect/toolOrder/0 (line 14)",
        "expected at most 2 items",
    ),
    (
        "an unknown assertion",
        assertion("contain", "x"),
        "cases.json /cases/0/expect/assertions/0/type (line 9)",
        'did you mean "contains"?',
    ),
    (
        "a number to contain",
        assertion("contains", 3),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        'expected text, found the number 3; put it in quotes: "3"',
    ),
    (
        "a bad regex",
        assertion("Regex", "("),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        "no valid regular expression (RE2): missing )",
    ),
    (
        "a look-ahead, which RE2 has not",
        assertion("regex", "(?=a)"),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        "(RE2): invalid perl operator",
    ),
    (
        "a schema of no type",
        assertion("json_schema", {"type": "objct"}),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        "JSON Schema: /type: ",
    ),
    (
        "a schema with a look-ahead",
        assertion("json_schema", {"allOf": [{"patternProperties": {"(?=a)": True}}, {"pattern": "a"}]}),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        "(RE2): invalid perl operator",
    ),
    (
        "a schema that refers outside of itself",
        assertion("json_schema", {"items": {"$ref": "https://schemas.example/order.json"}}),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        'cannot be used: $ref "https://schemas.example/order.json" is outside of the schema, and nothing is fetched',
    ),
    (
        "a schema that is text",
        assertion("json_schema", "{}"),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        "expected a JSON Schema",
    ),
    (
        "a negative cost",
        assertion("cost_threshold", -1),
        "cases.json /cases/0/expect/assertions/0/value (line 10)",
        "US dollars, at least 0",
    ),
    (
        "an own route with a suite's id",
        case(routes=[ROUTE]),
        "cases.json /cases/0/routes/0/id (line 16)",
        'the route id "read-order" is there twice',
    ),
    (
        "an own route with a suite's id in capital letters",
        case(routes=[{**ROUTE, "id": "Read-Order"}]),
        "cases.json /cases/0/routes/0/id (line 16)",
        "only by case or Unicode form",
    ),
    (
        "an own route that is wrong",
        case(routes=[{**ROUTE, "id": "own", "responses": [{"status": 100}]}]),
        "cases.json /cases/0/routes/0/responses/0/status (line 21)",
        "expected at least 200, found the number 100",
    ),
    (
        "own routes that are equally good",
        case(routes=[{**ROUTE, "id": "own"}, {**ROUTE, "id": "own-too"}]),
        "cases.json /cases/0/routes/1 (line 27)",
        'matches as well as "own"',
    ),
    (
        "a misspelt working directory",
        both(file("working_dirs/repo/a", ""), case(working_dir="rpo")),
        "cases.json /cases/0/working_dir (line 14)",
        'did you mean "working_dirs/repo"?',
    ),
    (
        "the working directories themselves",
        both(file("working_dirs/repo/a", ""), case(working_dir="repo/..")),
        "cases.json /cases/0/working_dir (line 14)",
        "expected the name of a folder in working_dirs",
    ),
    (
        "a name in a working directory that is not UTF-8",
        both(file("working_dirs/repo/\udcff", ""), case(working_dir="repo")),
        "cases.json /cases/0/working_dir (line 14)",
        "has a name that is not UTF-8",
    ),
    (
        "a link out of a working directory",
        both(file("working_dirs/repo/a", ""), link("working_dirs/repo/b", "/etc/passwd"), case(working_dir="repo")),
        "cases.json /cases/0/working_dir (line 14)",
        '"working_dirs/repo/b" leads outside the suite',
    ),
    (
        "a working directory that is not there",
        case(working_dir="repo"),
        "cases.json /cases/0/working_dir (line 14)",
        'no folder "working_dirs/repo"',
    ),
    (
        "a working directory outside",
        case(working_dir="../.."),
        "cases.json /cases/0/working_dir (line 14)",
        "leads outside the suite",
    ),
    (
        "the whole of working_dirs",
        case(working_dir="."),
        "cases.json /cases/0/working_dir (line 14)",
        "no folder",
    ),
]


@pytest.mark.parametrize(("change", "place", "words"), [pytest.param(*rest, id=name) for name, *rest in CASES])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)
