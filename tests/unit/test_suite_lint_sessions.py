"""Every rule of docker-agent sessions: each broken session is one problem with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts.suite.loading import load_suite
from contracts.suite.session_files import LARGEST_BYTES
from tests.fakes.session_folder import said, session, write_sessions
from tests.fakes.suite_changes import BrokenRule, Change, both, content, file, link
from tests.fakes.suite_folder import SuiteFolder
from tests.fakes.suite_problems import assert_exact_problem, problems


def named(folder: SuiteFolder) -> None:
    """suite.toml names the folder evals/, and that is there."""
    folder.settings = 'sessions = "evals"\n' + folder.settings
    folder.texts.setdefault("evals/good.json", json.dumps(session(size="S")))


def with_session(value: Any, *, name: str = "bad.json", **files: str) -> Change:
    """A session beside a good one."""
    text = value if isinstance(value, str) else json.dumps(value)
    changes = [file(f"evals/{path.replace('__', '/')}", there) for path, there in files.items()]
    change: Change = both(named, file(f"evals/{name}", text))
    for one in changes:
        change = both(change, one)
    return change


SESSIONS: list[BrokenRule] = [
    ("a session that is a list", with_session([{"message": {}}]), "evals/bad.json (line 1)", "found a list"),
    ("a session that is a text", with_session('"a"'), "evals/bad.json (line 1)", "found another value"),
    ("a session that is cut", with_session('{"messages": ['), "evals/bad.json line 1, column 15", "no valid JSON"),
    ("a session that is empty", with_session(""), "evals/bad.json", "is empty"),
    (
        "a session that is not UTF-8",
        both(named, content("evals/bad.json", b'{"messages": "\xff"}')),
        "evals/bad.json line 1",
        "not UTF-8",
    ),
    (
        "a session of more than 16 MiB",
        both(with_session(session()), content("evals/bad.json", b" " * (LARGEST_BYTES + 1))),
        "evals/bad.json",
        "has 16777217 bytes; expected at most 16777216 bytes (16 MiB)",
    ),
    (
        "a session without messages",
        with_session({"title": "a"}),
        "evals/bad.json (line 1)",
        "no user message",
    ),
    (
        "a session in which only others speak",
        with_session(session(said("assistant", "hello"), said("user", "go on", implicit=True))),
        "evals/bad.json /messages (line 1)",
        "no user message",
    ),
    (
        "a user message that is a picture",
        with_session(session(said("user", ""))),
        "evals/bad.json /messages/0/message/message (line 1)",
        "without any text",
    ),
    (
        "messages of another kind",
        with_session({"messages": "hello"}),
        "evals/bad.json /messages (line 1)",
        "expected a list",
    ),
    (
        "an unknown key of evals",
        with_session(session(relevence=["polite"])),
        "evals/bad.json /evals/relevence (line 1)",
        'unknown key "relevence"; did you mean "relevance"?',
    ),
    (
        "an unknown size of a session",
        with_session(session(size="XS")),
        "evals/bad.json /evals/size (line 1)",
        'unknown size "XS"',
    ),
    (
        "an unknown assertion type of a session",
        with_session(session(assertions=[{"type": "file_exists", "value": "a"}])),
        "evals/bad.json /evals/assertions/0/type (line 1)",
        'unknown assertion type "file_exists"',
    ),
    (
        "a broken pattern of a session",
        with_session(session(assertions=[{"type": "Regex", "value": "(a"}])),
        "evals/bad.json /evals/assertions/0/value (line 1)",
        "no valid regular expression (RE2)",
    ),
    (
        "a broken schema of a session, written as text",
        with_session(session(assertions=[{"type": "json_schema", "value": '{"type": "nothing"}'}])),
        "evals/bad.json /evals/assertions/0/value (line 1)",
        "no valid JSON Schema",
    ),
    (
        "a key of evals twice",
        with_session(
            '{"messages": [], "evals": {"size": "S", "size": "M"}}'.replace("[]", json.dumps([said("user", "a")]))
        ),
        "evals/bad.json /evals/size (line 1)",
        "is there twice",
    ),
    (
        "a working directory of a session that is not there",
        with_session(session(working_dir="desk"), working_dirs__dest__a="a"),
        "evals/bad.json /evals/working_dir (line 1)",
        'no folder "evals/working_dirs/desk" in the suite; did you mean "evals/working_dirs/dest"?',
    ),
    (
        "a working directory out of its folder",
        with_session(session(working_dir="../other"), working_dirs__a__a="a", other__a="a"),
        "evals/bad.json /evals/working_dir (line 1)",
        "expected the name of a folder in evals/working_dirs",
    ),
    (
        "a working directory with a name that no file system takes",
        with_session(session(working_dir="a" * 5000)),
        "evals/bad.json /evals/working_dir (line 1)",
        "is no usable path: File name too long",
    ),
    (
        "a link out of a working directory of a session",
        both(with_session(session(working_dir="w"), working_dirs__w__a="a"), link("evals/working_dirs/w/b", "/etc")),
        "evals/bad.json /evals/working_dir (line 1)",
        '"evals/working_dirs/w/b" leads outside the suite',
    ),
    (
        "a session that is a link out of the suite",
        both(named, link("evals/bad.json", "/etc/hostname")),
        "evals/bad.json",
        "leads outside the suite",
    ),
    (
        "sessions that differ only by case",
        with_session(session(), name="GOOD.json"),
        "evals/good.json (line 1)",
        'the case id "good" differs from "GOOD" only by case or Unicode form',
    ),
    (
        "a session with the id of a case",
        with_session(session(), name="greets.json"),
        "evals/greets.json (line 1)",
        'the case id "greets" is there twice',
    ),
    (
        "a session without a name",
        with_session(session(), name=".json"),
        "evals/.json",
        "empty before .json",
    ),
    (
        "a backslash in the name of a session",
        with_session(session(), name="a\\b.json"),
        "evals/a\\b.json",
        "a control character or a backslash",
    ),
    (
        "a file name that is not UTF-8",
        with_session(session(), name="a\udcff.json"),
        "evals/a\\udcff.json",
        "is not UTF-8",
    ),
]


@pytest.mark.parametrize(("change", "place", "words"), [pytest.param(*row[1:], id=row[0]) for row in SESSIONS])
def test_a_broken_session_is_one_problem(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)


def test_everything_wrong_with_a_folder_of_sessions_is_told_at_once(tmp_path: Path) -> None:
    evals: dict[str, Any] = {
        "size": "XS",
        "wrong": 1,
        "working_dir": "none",
        "assertions": [{"type": "regex", "value": "("}],
    }
    folder = write_sessions(
        tmp_path / "evals",
        {"good": session(), "list": [1], "many": session(said("assistant", "hi"), **evals), "next": {"messages": []}},
        files={"cut.json": '{"messages"', "empty.json": ""},
    )
    told = problems(SuiteFolderOnDisk(folder))
    assert [one.partition(": ")[0] for one in told] == [
        "evals/cut.json line 1, column 12",
        "evals/empty.json",
        "evals/list.json (line 1)",
        "evals/many.json /messages (line 3)",
        "evals/many.json /evals/size (line 23)",
        "evals/many.json /evals/wrong (line 24)",
        "evals/many.json /evals/working_dir (line 25)",
        "evals/many.json /evals/assertions/0/value (line 29)",
        "evals/next.json /messages (line 2)",
    ]


class SuiteFolderOnDisk(SuiteFolder):
    """A suite that is written already."""

    def write(self) -> Path:
        return self.root


def test_a_sparse_session_of_50_mb_is_refused_unread(tmp_path: Path) -> None:
    folder = write_sessions(tmp_path / "evals", {"good": session()})
    with (folder / "huge.json").open("wb") as stream:
        stream.truncate(50_000_000)
    (told,) = problems(SuiteFolderOnDisk(folder))
    assert told.startswith("evals/huge.json: has 50000000 bytes; expected at most")


def test_what_docker_agent_recorded_beside_is_never_a_problem(tmp_path: Path) -> None:
    text = json.dumps(session(said("user", "hello"))).replace(
        '"cost": 0.004', '"cost": 1, "deep": {"most": 9223372036854775807}'
    )
    folder = write_sessions(tmp_path / "evals", {}, files={"a.json": text})
    assert [case.id for case in load_suite(folder).cases] == ["a"]
