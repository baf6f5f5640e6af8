"""`labctl cases import`: the suite that it writes asks and expects the same, or nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.suite.loading import load_suite
from driver.session_import import import_sessions, native_ids
from tests.fakes.session_folder import said, session, write_sessions

AGENT = '[agents.echo]\nadapter = "command"\ncommand = ["python3", "{suite}/agent.py"]\n'


def sessions(root: Path) -> Path:
    turns = [said("user", "hello"), said("assistant", "", tools=("think", "think")), said("user", "and now?")]
    return write_sessions(
        root,
        {
            "two-turns": session(*turns, size="S", relevance=["polite"]),
            "Ünïcode Name": session(title=None, assertions=[{"type": "contains", "value": "a"}], setup="true"),
            "unicode-name": session(size="L", working_dir="desk", image="an-image"),
            "idle": session(),
        },
        files={"working_dirs/desk/notes.txt": "a note", "results/old.json": "{}"},
    )


def test_each_case_asks_and_expects_what_the_session_did(tmp_path: Path) -> None:
    source = load_suite(sessions(tmp_path / "evals"))
    imported = import_sessions(tmp_path / "evals", tmp_path / "deep" / "native")
    suite = load_suite(tmp_path / "deep" / "native")
    ids = {"Ünïcode Name": "unicode-name-2", "two-turns": "two-turns"}
    for old, new in ids.items():
        was, now = source.case(old), suite.case(new)
        assert (was.messages, was.expect, was.setup, was.image) == (now.messages, now.expect, now.setup, now.image)
        assert source.case_digests[old] == suite.case_digests[new]
    assert imported.renamed == (("Ünïcode Name", "unicode-name-2"),)
    assert suite.case("unicode-name-2").title == "Ünïcode Name"
    assert suite.sessions == {}


def test_a_session_that_expects_nothing_is_left_out_and_named(tmp_path: Path) -> None:
    imported = import_sessions(sessions(tmp_path / "evals"), tmp_path / "native")
    assert imported.left_out == ("idle: expects nothing, and a case of cases.json must",)
    assert imported.cases == 3


def test_working_directories_and_the_files_beside_come_along_but_no_results(tmp_path: Path) -> None:
    files = {"suite.toml": AGENT, "agent.py": "print()", "working_dirs/w/a/b": "c"}
    source = write_sessions(tmp_path / "evals", {"one": session(size="S", working_dir="w")}, files=files)
    (source / "working_dirs" / "empty").mkdir()
    import_sessions(source, tmp_path / "native")
    found = sorted(path.relative_to(tmp_path / "native").as_posix() for path in (tmp_path / "native").rglob("*.*"))
    assert found == ["agent.py", "cases.json", "suite.toml"]
    assert (tmp_path / "native/working_dirs/w/a/b").read_text() == "c"
    was, now = load_suite(source), load_suite(tmp_path / "native")
    assert was.case_digests == now.case_digests
    assert was.agent_digests == now.agent_digests


def test_sessions_of_a_folder_below_come_with_their_working_directories(tmp_path: Path) -> None:
    settings = f'# a comment\nsessions = "evals"\nseed = 3\n{AGENT}'
    files = {"suite.toml": settings, "agent.py": "", "evals/working_dirs/w/a": "b"}
    files["evals/one.json"] = json.dumps(session(size="S", working_dir="w"))
    source = write_sessions(tmp_path / "suite", {}, files=files)
    import_sessions(source, tmp_path / "native")
    suite = load_suite(tmp_path / "native")
    assert (suite.settings.sessions, suite.settings.seed) == (None, 3)
    assert suite.case_digests == load_suite(source).case_digests
    assert (tmp_path / "native/working_dirs/w/a").read_text() == "b"


def test_an_empty_folder_is_taken_and_any_other_is_not_touched(tmp_path: Path) -> None:
    source = sessions(tmp_path / "evals")
    (tmp_path / "empty").mkdir()
    assert import_sessions(source, tmp_path / "empty").cases == 3
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for taken in ("empty", "file", "link", "evals"):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(LabError) as caught:
            import_sessions(source, tmp_path / taken)
        assert caught.value.code is ErrorCode.BAD_USAGE
        assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "mine"


def test_bad_sessions_are_all_named_and_nothing_is_written(tmp_path: Path) -> None:
    source = write_sessions(tmp_path / "evals", {"list": [1], "good": session(size="S"), "none": {"messages": []}})
    with pytest.raises(LabError) as caught:
        import_sessions(source, tmp_path / "native")
    assert caught.value.code is ErrorCode.SUITE_INVALID
    assert len(caught.value.found) == 2
    assert not (tmp_path / "native").exists()


def test_tools_beside_them_that_the_sessions_do_not_keep_to_are_refused(tmp_path: Path) -> None:
    source = write_sessions(
        tmp_path / "evals",
        {"one": session(said("user", "a"), said("assistant", "", tools=("think",)))},
        files={"tools.json": '{"tools": []}'},
    )
    with pytest.raises(LabError) as caught:
        import_sessions(source, tmp_path / "native")
    assert [found.file for found in caught.value.found] == ["native/cases.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evals"]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ({"one": session()}, ErrorCode.NO_CASES),
        ({"cases": {"cases": [{"id": "a", "input": "b", "expect": {"size": "S"}}]}}, ErrorCode.BAD_USAGE),
    ],
)
def test_what_is_no_folder_of_sessions_that_expect_something_is_refused(
    tmp_path: Path, written: dict[str, object], code: ErrorCode
) -> None:
    with pytest.raises(LabError) as caught:
        import_sessions(write_sessions(tmp_path / "evals", written), tmp_path / "native")
    assert caught.value.code is code
    assert not (tmp_path / "native").exists()


def test_names_become_ids_that_are_all_different_and_ids_stay() -> None:
    names = ["a", "A", "á", "a-2", "日本", "_x_", "b" * 150, "b" * 120, "a b/c"]
    assert native_ids(names) == ["a", "a-3", "a-4", "a-2", "session", "x", "b" * 100, "b" * 98 + "-2", "a-b-c"]
