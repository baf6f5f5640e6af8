"""How the files of a suite are read, and how their problems are told; the rules have tables of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.errors import LabError
from contracts.suite.loading import load_suite
from tests.fakes.suite_folder import SuiteFolder
from tests.fakes.suite_problems import problems


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "desk", rules=[{"reply": {"text": "hello"}}])


def test_a_link_inside_the_suite_is_followed(folder: SuiteFolder) -> None:
    path = folder.write() / "state.json"
    path.rename(folder.root / "real.json")
    path.symlink_to("real.json")
    assert load_suite(folder.root).state == folder.state


def test_a_pipe_is_no_file_of_a_suite_and_is_not_waited_for(folder: SuiteFolder) -> None:
    path = folder.write() / "state.json"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LabError, match=r'desk/state.json: "state.json" is no regular file'):
        load_suite(folder.root)


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


def test_a_file_that_cannot_be_read_is_named_with_the_cause(
    folder: SuiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> bytes:
        raise OSError(5, "Input/output error", str(path))

    root = folder.write()
    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(LabError, match=r"desk/cases\.json: cannot be read: Input/output error"):
        load_suite(root)


def test_problems_come_in_the_order_of_the_files_and_of_the_places_in_them(folder: SuiteFolder) -> None:
    folder.settings += '\n[agents.x]\nadapter = "chat"\nprompt = "rude"\n'
    folder.cases[0] |= {"expect": {}, "titel": "x", "tags": [1]}
    folder.routes[0]["responses"] = [{"status": 100}, {"statsu": 1}]
    folder.tools[0]["http"] = None
    folder.tools[0]["function"]["name"] = "a b"
    folder.texts["state.json"] = "{"
    folder.rules.insert(0, {"when": {"turn": 1}, "reply": {}})
    places = [text.partition(": ")[0] for text in problems(folder)]
    assert places == [
        "desk/suite.toml agents.x.prompt (line 20)",
        "desk/cases.json /cases/0/expect (line 6)",
        "desk/cases.json /cases/0/titel (line 7)",
        "desk/cases.json /cases/0/tags/0 (line 9)",
        "desk/routes.json /routes/0/responses/0/status (line 9)",
        "desk/routes.json /routes/0/responses/1/statsu (line 12)",
        "desk/tools.json /tools/0/function/name (line 6)",
        "desk/state.json line 1, column 2",
        "desk/models/support.json /rules/0/reply (line 7)",
    ]


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
