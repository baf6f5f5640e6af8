"""Files that are no good JSON, TOML or UTF-8, or not in the suite, are refused with their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.errors import LabError
from contracts.suite.loading import load_suite
from tests.fakes.suite_folder import SuiteFolder
from tests.fakes.suite_problems import problems

CASE = '{"id": "a", "input": "b", "expect": {"size": "S"}}'


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "desk", rules=[{"reply": {"text": "hello"}}])


def with_bytes(folder: SuiteFolder, name: str, content: bytes) -> SuiteFolder:
    folder.write()
    folder.texts[name] = ""
    path = folder.root / name

    def write() -> Path:
        path.write_bytes(content)
        return folder.root

    folder.write = write  # type: ignore[method-assign]  # bytes that no text has
    return folder


BROKEN = [
    ("state.json", '{\n "a": 1,\n}', "line 3, column 1", "no valid JSON: Expecting property name"),
    ("state.json", '{"a": {"b": 1, "c": 2,\n "b": 3}}', "/a/b (line 2)", 'the key "b" is there twice'),
    ("cases.json", f'{{"cases": [{CASE}, {CASE[:-1]}, "id": "c"}}]}}', "/cases/1/id (line 1)", "is there twice"),
    ("state.json", '{"a": [1, NaN]}', "/a/1 (line 1)", "NaN cannot be used"),
    ("state.json", '{"a": -Infinity}', "/a (line 1)", "-Infinity cannot be used"),
    ("state.json", '{"a": 1e999}', "/a (line 1)", "1e999 cannot be used"),
    ("state.json", '{"a":\n9007199254740992}', "/a (line 1)", "within ±(2^53 - 1)"),
    ("state.json", '{"a": ' + "9" * 5000 + "}", "/a (line 1)", "9" * 40 + "… cannot be used"),
    ("routes.json", '{"routes": [{"id": "a", "method": "GET", "path": "/a", "responses": [{"json": 1e400}]}]}',
     "/routes/0/responses/0/json (line 1)", "1e400 cannot be used"),
    ("state.json", '{"a": "\\ud800"}', "(line 1)", "surrogate"),
    ("cases.json", '{"cases": [{"id": "a", "input": "\\ud800", "expect": {"size": "S"}}]}', "(line 1)", "surrogate"),
    ("state.json", '{"a": ' + "[" * 300 + "]" * 300 + "}", "(line 1)", "nested too deeply"),
    ("state.json", "[" * 100_000, "", "nested too deeply"),
    ("state.json", "[]", "(line 1)", "expected an object, found a list"),
    ("cases.json", "[]", "(line 1)", "expected an object, found a list"),
    ("cases.json", '{"cases": {}}', "/cases (line 1)", "expected a list, found an object"),
    ("cases.json", '{"cases": [], "case": []}', "/case (line 1)", 'did you mean "cases"?'),
    ("tools.json", "", "line 1, column 1", "no valid JSON: Expecting value"),
    ("suite.toml", "clock = \n", "line 1, column 9", "no valid TOML: Invalid value"),
    ("suite.toml", "seed = 1\nseed = 2\n", "line 2, column 9", "no valid TOML: Cannot overwrite a value"),
    ("suite.toml", "a = " + "[" * 5000, "", "nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "place", "words"), BROKEN)
def test_a_broken_file_is_one_problem_with_its_place(
    folder: SuiteFolder, name: str, text: str, place: str, words: str
) -> None:
    folder.texts[name] = text
    found = problems(folder)
    assert len(found) == 1, found
    assert found[0].startswith(f"desk/{name}{' ' if place else ''}{place}: "), found
    assert words in found[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xef\xbb\xbf{}", "state.json: begins with a byte order mark"),
        (b'{"a":\n"\xff"}', "state.json line 2: holds bytes that are not UTF-8"),
        ('{"a": "\u00e9"}'.encode("utf-16"), "state.json line 1: holds bytes that are not UTF-8"),
    ],
)
def test_only_plain_utf_8_is_read(folder: SuiteFolder, content: bytes, words: str) -> None:
    assert problems(with_bytes(folder, "state.json", content)) == [
        next(text for text in problems(folder) if words in text)
    ]


def test_a_prompt_that_is_not_utf_8_is_named(folder: SuiteFolder) -> None:
    assert problems(with_bytes(folder, "prompts/polite.md", b"\xff")) == [
        "desk/prompts/polite.md line 1: holds bytes that are not UTF-8"
    ]


@pytest.mark.parametrize(
    "name", ["cases.json", "state.json", "suite.toml", "prompts/polite.md", "models/support.json", "agents/desk.py"]
)
def test_a_link_out_of_the_suite_is_refused(folder: SuiteFolder, tmp_path: Path, name: str) -> None:
    path = folder.write() / name
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    with pytest.raises(LabError) as caught:
        load_suite(folder.root)
    assert f'"{name}" leads outside the suite' in str(caught.value)


def test_a_link_inside_the_suite_is_followed(folder: SuiteFolder) -> None:
    path = folder.write() / "state.json"
    path.rename(folder.root / "real.json")
    path.symlink_to("real.json")
    assert load_suite(folder.root).state == folder.state


def test_a_link_out_of_a_working_directory_is_refused(folder: SuiteFolder) -> None:
    folder.texts["working_dirs/repo/a"] = ""
    folder.cases[0]["working_dir"] = "repo"
    (folder.write() / "working_dirs" / "repo" / "b").symlink_to("/etc/passwd")
    assert problems(folder) == [
        'desk/cases.json /cases/0/working_dir (line 14): "working_dirs/repo/b" leads outside the suite'
    ]


@pytest.mark.parametrize("name", [".", "", "repo/.."])
def test_the_whole_of_working_dirs_is_no_working_directory(folder: SuiteFolder, name: str) -> None:
    folder.texts["working_dirs/repo/a"] = ""
    folder.cases[0]["working_dir"] = name
    assert "the name of a folder in working_dirs" in problems(folder)[0]


def test_a_link_to_itself_is_refused(folder: SuiteFolder) -> None:
    path = folder.write() / "routes.json"
    path.unlink()
    path.symlink_to("routes.json")
    folder.settings = 'routes = "routes.json"\n' + folder.settings
    (folder.root / "suite.toml").write_text(folder.settings)
    with pytest.raises(LabError, match="leads outside the suite"):
        load_suite(folder.root)


def test_a_pipe_is_no_file_of_a_suite_and_is_not_waited_for(folder: SuiteFolder) -> None:
    path = folder.write() / "state.json"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LabError, match=r'no file "state.json" in the suite'):
        load_suite(folder.root)


def test_twelve_different_problems_are_twelve(folder: SuiteFolder) -> None:
    folder.settings += '\n[jobs.a]\nprofile = []\n[agents.x]\nadapter = "chat"\nprompt = "rude"\n'
    folder.settings = 'timezone = "Mars/Olympus"\n' + folder.settings
    folder.cases[0]["expect"] = {"neverTools": ["refund"], "minF1": "1"}
    folder.cases += [{"id": "b", "input": "x", "expect": {}}, {"id": "b", "input": "x", "expect": {"size": "S"}}]
    folder.cases += [{"id": "c", "expect": {"assertions": [{"type": "regex", "value": "("}]}}]
    folder.routes[0]["effects"] = [{"op": "add", "path": "/a"}]
    folder.routes[0]["responses"] = [{"json": {"$state": "/orders/{order}"}}, {"bytesBase64": "!"}]
    folder.tools += [{"type": "function", "function": {"name": "a b"}}]
    folder.texts["state.json"] = "{"
    found = problems(folder)
    assert len(found) == 12, found


def test_a_bad_file_does_not_make_the_names_in_it_unknown(folder: SuiteFolder) -> None:
    folder.tools[0]["extra"] = 1
    folder.cases[0]["expect"] = {"neverTools": ["lookup_order"]}
    folder.cases[0]["faults"] = {"responses": [{"route": "read-order", "kind": "empty"}]}
    folder.routes[0]["extra"] = 1
    assert len(problems(folder)) == 2


def test_a_wrong_key_of_suite_toml_brings_no_problem_of_its_default(folder: SuiteFolder) -> None:
    folder.settings = "cases = 5\n" + folder.settings
    folder.texts["cases.json"] = "no json"
    assert len(problems(folder)) == 1


def test_the_error_is_one_text_with_every_problem_and_a_next_step(folder: SuiteFolder) -> None:
    folder.texts["state.json"] = "{"
    folder.cases[0]["expect"] = {}
    with pytest.raises(LabError) as caught:
        load_suite(folder.write())
    lines = str(caught.value).splitlines()
    assert lines[0] == f"labctl: suite-invalid: the suite {folder.root} has 2 problems"
    assert sum(line.startswith("found: desk/") for line in lines) == 2
    assert lines[-1].startswith("next: ")
    assert caught.value.exit_code == 2
