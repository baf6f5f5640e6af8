"""Every rule of files as such: no good JSON, TOML or UTF-8, or not in the suite; each is one problem with its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.suite.loading import load_suite
from tests.fakes.suite_changes import BrokenRule, Change, both, content, file, link, top
from tests.fakes.suite_folder import SuiteFolder
from tests.fakes.suite_problems import assert_exact_problem, problems

CASE = '{"id": "a", "input": "b", "expect": {"size": "S"}}'
ROUTE = '{"id": "a", "method": "GET", "path": "/orders/{order_id}", "responses": [{"json": 1e400}]}'

FILES: list[BrokenRule] = [
    (
        "no JSON",
        file("state.json", '{\n "a": 1,\n}'),
        "state.json line 3, column 1",
        "no valid JSON: Expecting property name",
    ),
    ("an empty file", file("tools.json", ""), "tools.json line 1, column 1", "no valid JSON: Expecting value"),
    (
        "a key that is there twice",
        file("state.json", '{"a": {"b": 1, "c": 2,\n "b": 3}}'),
        "state.json /a/b (line 2)",
        'the key "b" is there twice',
    ),
    (
        "a key of a case twice",
        file("cases.json", f'{{"cases": [{CASE}, {CASE[:-1]}, "id": "c"}}]}}'),
        "cases.json /cases/1/id (line 1)",
        "is there twice",
    ),
    ("no number", file("state.json", '{"a": [1, NaN]}'), "state.json /a/1 (line 1)", "NaN cannot be used"),
    ("infinity", file("state.json", '{"a": -Infinity}'), "state.json /a (line 1)", "-Infinity cannot be used"),
    ("a number beyond doubles", file("state.json", '{"a": 1e999}'), "state.json /a (line 1)", "1e999 cannot be used"),
    (
        "an integer beyond doubles",
        file("state.json", '{"a":\n9007199254740992}'),
        "state.json /a (line 1)",
        "within ±(2^53 - 1)",
    ),
    (
        "a very long number",
        file("state.json", '{"a": ' + "9" * 5000 + "}"),
        "state.json /a (line 1)",
        "9" * 40 + "… cannot be used",
    ),
    (
        "an unfit number in a body",
        file("routes.json", f'{{"routes": [{ROUTE}]}}'),
        "routes.json /routes/0/responses/0/json (line 1)",
        "1e400 cannot be used",
    ),
    (
        "half a character in the state",
        file("state.json", '{"a": "\\ud800"}'),
        "state.json (line 1)",
        "half of a surrogate pair",
    ),
    (
        "half a character in a case",
        file("cases.json", f'{{"cases": [{CASE.replace("b", chr(92) + "ud800", 1)}]}}'),
        "cases.json (line 1)",
        "half of a surrogate pair",
    ),
    (
        "half a character and nothing else",
        file("cases.json", '"\\ud800"'),
        "cases.json (line 1)",
        "half of a surrogate pair",
    ),
    (
        "a model that is half a character",
        file("models/support.json", '"\\ud800"'),
        "models/support.json (line 1)",
        "half of a surrogate pair",
    ),
    (
        "a deep document",
        file("state.json", '{"a": ' + "[" * 300 + "]" * 300 + "}"),
        "state.json (line 1)",
        "nested too deeply",
    ),
    ("a very deep document", file("state.json", "[" * 100_000), "state.json", "nested too deeply"),
    ("a state that is a list", file("state.json", "[]"), "state.json (line 1)", "expected an object, found a list"),
    ("cases that are a list", file("cases.json", "[]"), "cases.json (line 1)", "expected an object, found a list"),
    (
        "cases that are an object",
        file("cases.json", '{"cases": {}}'),
        "cases.json /cases (line 1)",
        "expected a list, found an object",
    ),
    (
        "a misspelt top key",
        file("cases.json", f'{{"case": [{CASE}]}}'),
        "cases.json /case (line 1)",
        'did you mean "cases"?',
    ),
    ("no TOML", file("suite.toml", "clock = \n"), "suite.toml line 1, column 9", "no valid TOML: Invalid value"),
    (
        "a TOML key twice",
        file("suite.toml", "seed = 1\nseed = 2\n"),
        "suite.toml line 2, column 9",
        "no valid TOML: Cannot overwrite a value",
    ),
    ("deep TOML", file("suite.toml", "a = " + "[" * 5000), "suite.toml", "nested too deeply"),
    (
        "a byte order mark",
        content("state.json", b"\xef\xbb\xbf{}"),
        "state.json line 1",
        "begins with a byte order mark",
    ),
    (
        "bytes that are not UTF-8",
        content("state.json", b'{"a":\n"\xff"}'),
        "state.json line 2",
        "holds bytes that are not UTF-8",
    ),
    (
        "UTF-16",
        content("state.json", '{"a": "\u00e9"}'.encode("utf-16")),
        "state.json line 1",
        "holds bytes that are not UTF-8",
    ),
    (
        "a prompt that is not UTF-8",
        content("prompts/polite.md", b"\xff"),
        "prompts/polite.md line 1",
        "holds bytes that are not UTF-8",
    ),
    (
        "one bad file that two keys name, told once",
        both(top('prompts.other.file = "prompts/polite.md"'), content("prompts/polite.md", b"\xff")),
        "prompts/polite.md line 1",
        "holds bytes that are not UTF-8",
    ),
    ("cases out of the suite", link("cases.json", "/etc/passwd"), "cases.json", '"cases.json" leads outside the suite'),
    (
        "settings out of the suite",
        link("suite.toml", "/etc/passwd"),
        "suite.toml",
        '"suite.toml" leads outside the suite',
    ),
    (
        "a prompt out of the suite",
        link("prompts/polite.md", "/etc/passwd"),
        "suite.toml prompts.polite.file (line 7)",
        "leads outside the suite",
    ),
    (
        "a program out of the suite",
        link("agents/desk.py", "/etc/passwd"),
        "suite.toml agents.desk.command (line 16)",
        "leads outside the suite",
    ),
    (
        "a named link to itself",
        both(top('routes = "routes.json"'), link("routes.json", "routes.json")),
        "suite.toml routes (line 1)",
        '"routes.json" is a link that leads nowhere',
    ),
    *(
        (f"{name} that is a link to {target}", link(name, target), name, f'"{name}" is a link that leads nowhere')
        for name in ("suite.toml", "cases.json", "routes.json", "tools.json", "state.json")
        for target in ("nothing-there", name)
    ),
    (
        "models that differ by case",
        file("models/Support.json", '{"rules": [{"reply": {"text": "hello"}}]}'),
        "models/support.json (line 1)",
        'the model "support" differs from "Support" only by case or Unicode form',
    ),
]


@pytest.mark.parametrize(("change", "place", "words"), [pytest.param(*rest, id=name) for name, *rest in FILES])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)


@pytest.mark.parametrize("target", ["nothing-there", "models"])
def test_a_folder_of_models_that_is_a_link_to_nowhere_is_a_problem(tmp_path: Path, target: str) -> None:
    folder = SuiteFolder(tmp_path / "desk")
    shutil.rmtree(folder.write() / "models")
    (tmp_path / "desk" / "models").symlink_to(target)
    with pytest.raises(LabError) as caught:
        load_suite(tmp_path / "desk")
    assert 'desk/models: "models" is a link that leads nowhere' in [str(found) for found in caught.value.found]


def test_a_suite_without_cases_is_told_so_beside_its_other_problems_and_what_is_next(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "desk")
    folder.texts["cases.json"] = '{"cases": []}'
    folder.texts["state.json"] = "[]"
    assert problems(folder) == [
        "desk/cases.json /cases (line 1): the list is empty",
        "desk/state.json (line 1): expected an object, found a list",
    ]
    del folder.texts["state.json"]
    with pytest.raises(LabError) as caught:
        load_suite(folder.write())
    assert caught.value.code is ErrorCode.NO_CASES
    assert caught.value.next_step is not None
