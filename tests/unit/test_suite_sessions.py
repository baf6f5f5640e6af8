"""A folder of docker-agent sessions as a suite: what becomes of each key, and what its digests are made of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.planning import conditions_of, effective_limits, resolve_agent
from contracts.suite.case import Case
from contracts.suite.loading import load_suite
from contracts.suite.staging import stage_agent_view
from contracts.suite.suite import Suite
from tests.fakes.session_folder import old_style, said, session, write_sessions

AGENT = '[agents.echo]\nadapter = "command"\ncommand = ["cat", "{suite}/config.json"]\n'


def loaded(root: Path, *items: dict[str, Any], title: str | None = "A question", **evals: Any) -> Case:
    """The only case of a folder with one session."""
    suite = load_suite(write_sessions(root / "evals", {"one": session(*items, title=title, **evals)}))
    (case,) = suite.cases
    return case


def expected(case: Case) -> list[str] | None:
    return None if case.expect.tool_calls is None else [call.name for call in case.expect.tool_calls]


def handed_on(*items: dict[str, Any], key: str = "sub_session") -> dict[str, Any]:
    return {key: {"id": "below", "title": "", "messages": list(items)}}


def test_the_file_name_is_the_id_whatever_its_letters(tmp_path: Path) -> None:
    names = ["41b179a2-ed19", "Ünïcode ✓ with spaces", "UPPER", "a" * 200, "日本", "a.b"]
    suite = load_suite(write_sessions(tmp_path / "evals", {name: session(title=None) for name in names}))
    assert [case.id for case in suite.cases] == sorted(names)
    assert [case.shown_title for case in suite.cases] == sorted(names)
    assert suite.sessions["UPPER"] == "UPPER.json"


def test_two_spellings_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="only by case or Unicode form"):
        load_suite(write_sessions(tmp_path / "evals", {"e\u0301": session(), "\u00e9": session()}))


def test_the_user_messages_in_order_are_the_input(tmp_path: Path) -> None:
    one = loaded(tmp_path / "1", said("user", "hello"), said("assistant", "hi"))
    two = loaded(tmp_path / "2", said("user", "first"), said("assistant", "hi"), said("user", "second"))
    assert (one.input, one.title) == ("hello", "A question")
    assert [message.content for message in two.messages] == ["first", "second"]


def test_what_docker_agent_said_for_the_user_is_no_input(tmp_path: Path) -> None:
    below = handed_on(said("user", "Please proceed.", implicit=True), said("user", "the task"))
    case = loaded(tmp_path, said("user", "hello"), below, said("user", "go on", implicit=True))
    assert case.input == "hello"


def test_the_texts_of_a_message_with_parts_are_read(tmp_path: Path) -> None:
    message = said("user", "")
    parts = [
        {"type": "text", "text": "what is"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "this?"},
    ]
    message["message"]["message"]["multi_content"] = parts
    assert loaded(tmp_path, message).input == "what is\nthis?"


def test_recorded_tool_calls_are_expected_by_name_those_of_sub_sessions_where_they_were_handed_on(
    tmp_path: Path,
) -> None:
    deep = handed_on(said("assistant", "", tools=("write_file",)))
    below = handed_on(said("assistant", "", tools=("read_file", "read_file")), deep)
    case = loaded(
        tmp_path,
        said("user", "hello"),
        said("assistant", "", tools=("transfer_task",)),
        below,
        said("assistant", "", tools=("think",)),
        handed_on(said("assistant", "", tools=("list_directory",)), key="subsession"),
        {"summary": "so far", "first_kept_entry": 1},
    )
    names = ["transfer_task", "read_file", "read_file", "write_file", "think", "list_directory"]
    assert expected(case) == names
    assert (case.expect.tool_match, case.expect.min_f1, case.expect.unmatched_requests) == ("names", 1.0, "allow")


def test_a_session_that_recorded_no_call_has_no_check_of_calls(tmp_path: Path) -> None:
    message = said("user", "hello", tools=("not_the_assistants",))
    assert expected(loaded(tmp_path, message, said("assistant", "hi"), size="S")) is None


def test_both_spellings_of_the_agents_name_are_read(tmp_path: Path) -> None:
    items = [said("user", "hello"), said("assistant", "", tools=("think",), agent="root")]
    new, old = loaded(tmp_path / "1", *items), loaded(tmp_path / "2", *(old_style(item) for item in items))
    assert new == old


def test_every_key_of_evals_becomes_a_key_of_the_case(tmp_path: Path) -> None:
    root = write_sessions(
        tmp_path / "evals",
        {
            "one": session(
                relevance=["polite", "short"],
                size="M",
                setup="apk add git",
                working_dir="desk",
                image="registry.example/desk@sha256:1",
                assertions=[
                    {"name": "cheap", "type": "cost_threshold", "value": "0.05"},
                    {"type": "JSON_SCHEMA", "value": '{"type": "object"}'},
                    {"type": "contains", "value": "1"},
                ],
            )
        },
        files={"working_dirs/desk/notes.txt": "a note"},
    )
    suite = load_suite(root)
    case = suite.case("one")
    assert (case.setup, case.working_dir, case.image) == ("apk add git", "desk", "registry.example/desk@sha256:1")
    assert (case.expect.size, case.expect.relevance) == ("M", ("polite", "short"))
    written = [(one.name, one.type, one.value) for one in case.expect.assertions]
    assert written == [
        ("cheap", "cost_threshold", 0.05),
        (None, "JSON_SCHEMA", {"type": "object"}),
        (None, "contains", "1"),
    ]
    assert suite.working_dir_of(case) == root / "working_dirs" / "desk"


@pytest.mark.parametrize(
    "evals",
    [
        {},
        {"relevance": []},
        {"relevance": None, "size": "", "setup": "", "working_dir": "", "image": "", "assertions": None},
    ],
)
def test_what_is_empty_is_not_expected_and_a_session_that_expects_nothing_loads(
    tmp_path: Path, evals: dict[str, Any]
) -> None:
    case = loaded(tmp_path, **evals)
    assert case.expect.is_empty
    assert (case.setup, case.working_dir, case.image) == (None, None, None)


def test_null_is_as_good_as_absent(tmp_path: Path) -> None:
    empty = {"message": {"message": {"role": "assistant", "content": None, "tool_calls": None}}}
    items = [said("user", "hello"), {"message": None, "sub_session": None}, empty]
    bare = {"title": None, "evals": None, "messages": items}
    suite = load_suite(write_sessions(tmp_path / "evals", {"one": bare}))
    assert suite.case("one").shown_title == "one"


def test_only_json_files_of_the_folder_itself_are_sessions(tmp_path: Path) -> None:
    others = dict.fromkeys(("results/run.json", "working_dirs/a.json", "below/b.json", "c.json/d.json"), "{}")
    own = dict.fromkeys(("state.json", "config.json", "package-lock.json"), "{}")
    own |= {"routes.json": '{"routes": []}', "tools.json": '{"tools": []}', "notes.txt": "no JSON"}
    own["suite.toml"] = 'lock_files = ["package-lock.json"]\n' + AGENT
    suite = load_suite(write_sessions(tmp_path / "evals", {"one": session(size="S")}, files=others | own))
    assert [case.id for case in suite.cases] == ["one"]


def test_a_folder_may_do_without_suite_toml_and_its_defaults_are_named(tmp_path: Path) -> None:
    suite = load_suite(write_sessions(tmp_path / "evals", {"one": session(size="S")}))
    assert {"clock", "timezone", "locale", "seed", "revision"} <= set(suite.defaulted)
    assert suite.dataset.label == suite.dataset.digest
    assert suite.dataset == load_suite(write_sessions(tmp_path / "other", {"two": session()})).dataset


def test_a_suite_toml_beside_them_adds_agents_and_limits(tmp_path: Path) -> None:
    files = {"suite.toml": f"{AGENT}[limits]\nseconds = 7\n", "config.json": "{}"}
    suite = load_suite(write_sessions(tmp_path / "evals", {"one": session(size="S")}, files=files))
    agent = resolve_agent(suite, name=None, model=None, prompt=None)
    limits = effective_limits(suite.settings.limits, timeout=None)
    assert conditions_of(suite, agent, backend="process", limits=limits).limits.seconds == 7


def test_a_suite_may_have_both_cases_and_sessions(tmp_path: Path) -> None:
    cases = {"cases": [{"id": "own", "input": "a", "expect": {"size": "S"}}]}
    files = {"suite.toml": 'sessions = "evals"\n', "cases.json": json.dumps(cases)}
    files["evals/working_dirs/desk/a"] = "a"
    files["evals/tools.json"] = json.dumps(session(size="S", working_dir="desk"))
    root = write_sessions(tmp_path / "suite", {}, files=files)
    suite = load_suite(root)
    assert [case.id for case in suite.cases] == ["own", "tools"]
    assert suite.working_dir_of(suite.case("tools")) == root / "evals/working_dirs/desk"
    assert suite.sessions == {"tools": "evals/tools.json"}


def digest_of(root: Path, *items: dict[str, Any], files: dict[str, str] | None = None, **keys: Any) -> str:
    suite = load_suite(write_sessions(root, {"one": session(*items, **keys)}, files=files))
    return suite.case_digests["one"]


def test_a_case_digest_covers_what_is_asked_and_expected_but_no_title_and_nothing_else_that_was_recorded(
    tmp_path: Path,
) -> None:
    user = said("user", "hello")
    base = digest_of(tmp_path / "0", user, size="S")
    retold = session(user, said("assistant", "another answer"), title="Another", size="S") | {"cost": 9, "extra": 1}
    same = load_suite(write_sessions(tmp_path / "1", {"one": retold})).case_digests["one"]
    files = {"working_dirs/w/a": "a"}
    others = [
        digest_of(tmp_path / "2", said("user", "hullo"), size="S"),
        digest_of(tmp_path / "3", user, size="M"),
        digest_of(tmp_path / "4", user, said("assistant", "", tools=("think",)), size="S"),
        digest_of(tmp_path / "5", user, size="S", setup="true"),
        digest_of(tmp_path / "6", user, size="S", image="a"),
        digest_of(tmp_path / "7", user, size="S", working_dir="w", files=files),
        digest_of(tmp_path / "8", user, size="S", working_dir="w", files={"working_dirs/w/a": "b"}),
    ]
    assert same == base
    assert len({base, *others}) == 8


def test_no_agent_reads_a_session(tmp_path: Path) -> None:
    files = {"config.json": "{}", "suite.toml": AGENT, "working_dirs/w/a.json": "{}", "results/old.json": "{}"}
    root = write_sessions(tmp_path / "evals", {"one": session(size="S")}, files=files)
    (root / "alias").symlink_to("one.json")
    view = tmp_path / "view"
    stage_agent_view(load_suite(root), view)
    assert sorted(os.fspath(path.relative_to(view)) for path in view.rglob("*") if path.is_file()) == [
        "config.json",
        "working_dirs/w/a.json",
    ]


@pytest.mark.parametrize("files", [{}, {"notes.txt": "a"}, {"suite.toml": ""}, {"results/a.json": "{}"}])
def test_a_folder_without_any_session_has_no_cases(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(LabError) as caught:
        load_suite(write_sessions(tmp_path / "evals", {}, files=files))
    assert caught.value.code is ErrorCode.NO_CASES
    assert "no session files" in str(caught.value)


def test_a_suite_of_sessions_reads_the_same_from_a_copy_of_another_name(tmp_path: Path) -> None:
    def read(name: str) -> Suite:
        return load_suite(write_sessions(tmp_path / name, {"b": session(size="S"), "a": session()}))

    assert read("one").case_digests == read("two").case_digests
