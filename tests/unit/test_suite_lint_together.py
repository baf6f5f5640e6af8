"""Problems that have nothing to do with each other are told together, and none brings a problem that only follows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.suite.loading import load_suite
from contracts.suite.places import pointer_of
from tests.fakes.suite_changes import Change, both, content, file, settings, top
from tests.fakes.suite_folder import TOOL
from tests.fakes.suite_problems import problems
from tests.fakes.suite_web import put, web

SHAPES: dict[str, dict[str, Change]] = {
    "case": {
        "an unknown key": put("cases", 0, "zzzz", value=1),
        "a tag that is a number": put("cases", 0, "tags", 0, value=1),
        "a limit of text": put("cases", 0, "limits", "seconds", value="long"),
        "an unknown key of expect": put("cases", 0, "expect", "zzzz", value=1),
        "a bad minF1": put("cases", 0, "expect", "minF1", value=2),
        "an item that is no case": lambda folder: folder.cases.append(5),
    },
    "route": {
        "an unknown key": put("routes", 0, "zzzz", value=1),
        "a priority of text": put("routes", 0, "priority", value="high"),
        "a delay of text": put("routes", 0, "responses", 0, "delayMs", value="x"),
        "an unknown key of a response": put("routes", 0, "responses", 0, "zzzz", value=1),
        "a missing key of an effect": put("routes", 0, "effects", value=[{"op": "remove"}]),
        "an item that is no route": lambda folder: folder.routes.append([]),
    },
    "tool": {
        "an unknown key": put("tools", 0, "zzzz", value=1),
        "another type": put("tools", 0, "type", value="method"),
        "an unknown key of the binding": put("tools", 0, "http", "zzzz", value=1),
        "a description that is a list": put("tools", 0, "function", "description", value=[]),
    },
    "model": {
        "an unknown key": put("rules", 0, "zzzz", value=1),
        "tokens of text": put("rules", 1, "reply", "usage", "inputTokens", value="1"),
        "a turn of text": put("rules", 1, "when", "turn", value="1"),
        "a status that is no error": put("rules", 2, "reply", "error", "status", value=200),
    },
    "suite.toml": {
        "an unknown key": top("zzzz = 1"),
        "a seed of text": top('seed = "x"'),
        "an unknown key of an agent": settings('adapter = "chat"', 'adapter = "chat"\nzzzz = 1'),
        "an unknown key of a prompt": settings("[prompts.polite]", "[prompts.polite]\nzzzz = 1"),
    },
}
RULES: dict[str, dict[str, Change]] = {
    "case": {
        "a bad id": put("cases", 1, "id", value="Asks It"),
        "an id twice": put("cases", 1, "id", value="greets"),
        "an unknown route": put("cases", 0, "faults", "responses", 2, "route", value="owm"),
        "two faults for one request": put("cases", 0, "faults", "responses", 1, "skip", value=0),
        "a random toxic": put("cases", 0, "faults", "network", 0, "attributes", "jitter", value=1),
        "an unknown tool": put("cases", 0, "expect", "neverTools", 0, value="refnud"),
        "an unknown assertion": put("cases", 0, "expect", "assertions", 0, "type", value="contians"),
        "an own route's bad path": put("cases", 0, "routes", 0, "path", value="/{a"),
        "a working directory that is not there": put("cases", 0, "working_dir", value="x"),
        "nothing expected": put("cases", 1, "expect", value={}),
    },
    "route": {
        "an unknown method": put("routes", 0, "method", value="GTE"),
        "two routes that match equally well": put("routes", 3, "priority", value=0),
        "a reference to no parameter": put("routes", 0, "responses", 0, "json", value={"$state": "/{order}"}),
        "an interim status": put("routes", 0, "responses", 0, "status", value=100),
        "two bodies": put("routes", 0, "responses", 0, "text", value="x"),
        "a header of the connection": put("routes", 0, "responses", 0, "headers", value={"Date": "x"}),
        "an id twice": put("routes", 1, "id", value="read-order"),
    },
    "tool": {
        "a bad name": lambda folder: folder.tools.append({"type": "function", "function": {"name": "a b"}}),
        "a parameter that is not there": put("tools", 0, "function", "parameters", "required", value=["order"]),
        "a path with an unknown parameter": put("tools", 0, "http", "path", value="/orders/{id}"),
        "two tools for the same requests": lambda folder: folder.tools.append(
            {**TOOL, "function": {**TOOL["function"], "name": "again"}}  # type: ignore[dict-item]  # a JSON object
        ),
    },
    "model": {
        "an unknown case": put("rules", 0, "when", "case", value="greet"),
        "an unknown prompt": put("rules", 1, "when", "prompt", value="polit"),
        "an unknown last tool": put("rules", 1, "when", "lastTool", value="lookup"),
        "a bad regex": put("rules", 2, "when", "text", value="("),
        "nothing said": put("rules", 3, "reply", value={}),
        "text beside an error": put("rules", 2, "reply", "text", value="x"),
    },
    "suite.toml": {
        "an unknown prompt": settings('prompt = "polite"', 'prompt = "polit"'),
        "an unknown model": settings("scripted/support", "scripted/suport"),
        "an unknown default agent": settings('default_agent = "support"', 'default_agent = "suport"'),
        "no such timezone": top('timezone = "Europe/Berln"'),
        "a key of another adapter": settings('adapter = "chat"', 'adapter = "chat"\nfile = "a"'),
        "a prompt's file that is not there": settings('"prompts/polite.md"', '"prompts/polit.md"'),
    },
}
LISTS = {"cases.json": "cases", "routes.json": "routes", "tools.json": "tools"}
PAIRS = [
    pytest.param(kind, shape, rule, id=f"{kind}: {shape}, {rule}")
    for kind, shapes in SHAPES.items()
    for shape, rule in itertools.product(shapes, RULES[kind])
]


def told(root: Path, *changes: Change) -> list[tuple[str, str]]:
    """The place, without its line, and the text of each problem, sorted."""
    found = [one.partition(": ") for one in problems(web(root, *changes))]
    return sorted((place.partition(" (line")[0], text) for place, _, text in found)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """The problems of each change by itself."""
    changes = {
        (kind, name): change for table in (SHAPES, RULES) for kind in table for name, change in table[kind].items()
    }
    return {key: told(tmp_path_factory.mktemp("alone") / "desk", change) for key, change in changes.items()}


def test_a_suite_where_all_refers_to_all_is_right(tmp_path: Path) -> None:
    assert load_suite(web(tmp_path / "desk").write())


@pytest.mark.parametrize(("kind", "shape", "rule"), PAIRS)
def test_a_wrong_shape_and_a_broken_rule_are_both_told_and_nothing_else(
    tmp_path: Path, alone: dict[tuple[str, str], list[tuple[str, str]]], kind: str, shape: str, rule: str
) -> None:
    first, second = alone[kind, shape], alone[kind, rule]
    assert len(first) == len(second) == 1, (first, second)
    assert told(tmp_path / "desk", RULES[kind][rule], SHAPES[kind][shape]) == sorted(first + second)


UNREADABLE: dict[str, Change] = {
    **{f"{name} is no JSON": file(name, "{") for name in (*LISTS, "state.json", "models/support.json")},
    **{f"{name} is a list": file(name, "[]") for name in (*LISTS, "models/support.json")},
    **{f"{name} has its list misspelt": file(name, f'{{"{key[:-1]}": []}}') for name, key in LISTS.items()},
    **{f"{name} has no list": file(name, f'{{"{key}": {{}}}}') for name, key in LISTS.items()},
    **{f"{name} is not UTF-8": content(name, b"\xff") for name in (*LISTS, "suite.toml", "prompts/polite.md")},
    **{f"{name} leads to another": settings(f'"{name}"', f'"x/{name}"') for name in (*LISTS, "state.json")},
    **{f"{name} is named by a number": settings(f'"{name}"', "5") for name in LISTS},
    "suite.toml is no TOML": top("= 5"),
    "the prompts are no table": both(
        settings('[prompts.polite]\nfile = "prompts/polite.md"\n', ""), top("prompts = 5")
    ),
    "one of two agents is in a misspelt table": settings("[agents.support]", "[agnets.support]"),
    "the prompts are misspelt": settings("[prompts.polite]", "[promtps.polite]"),
    "the key of the routes is misspelt": settings("routes =", "rotues ="),
    "the name of a tool is misspelt": put("tools", 1, "function", value={"nmae": "refund"}),
    "the name of a route is missing": lambda folder: folder.routes[0].pop("id"),
    "the name of a case is a number": put("cases", 0, "id", value=1),
}


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in UNREADABLE.items()])
def test_what_cannot_be_read_makes_nothing_else_unknown_and_hides_no_problem_of_another_file(
    tmp_path: Path, change: Change
) -> None:
    assert len(told(tmp_path / "1" / "desk", change)) == 1
    elsewhere = file("models/other.json", '{"rules": [{"reply": {}}]}')
    found = told(tmp_path / "2" / "desk", change, elsewhere)
    assert len(found) == 2
    assert ("desk/models/other.json /rules/0/reply", "says nothing; expected text, toolCalls or error") in found


def test_what_no_reader_takes_hides_no_other_problem_of_the_file(tmp_path: Path) -> None:
    deep: Any = 5
    for _ in range(300):
        deep = [deep]
    unreadable = (
        put("cases", 0, "title", value="\ud800"),
        put("cases", 0, "limits", "seconds", value=float("inf")),
        put("cases", 1, "state", value={"a": deep}),
    )
    changes = (SHAPES["case"]["an unknown key"], RULES["case"]["an unknown tool"], RULES["case"]["an unknown route"])
    found = told(tmp_path / "desk", *unreadable, *changes)
    assert [place.removeprefix("desk/cases.json") for place, _ in found] == [
        "",
        " /cases/0/expect/neverTools/0",
        " /cases/0/faults/responses/2/route",
        " /cases/0/limits/seconds",
        " /cases/0/zzzz",
    ]


def values_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values but of those that may be any JSON."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in members:
        if name not in {"json", "value", "parameters", "arguments"}:
            yield from values_in(one, (*path, name))


PARTS = {"cases": "cases.json", "routes": "routes.json", "tools": "tools.json", "rules": "models/support.json"}


@pytest.mark.parametrize("part", PARTS)
def test_a_value_of_another_kind_is_a_problem_there_and_nowhere_else(tmp_path: Path, part: str) -> None:
    written = getattr(web(tmp_path), part)
    for number, path in enumerate(values_in(written)):
        if path:
            folder = web(tmp_path / str(number) / "desk")
            place = getattr(folder, part)
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = 5 if isinstance(place[path[-1]], list | dict | str) else "x"
            where = f"desk/{PARTS[part]} {pointer_of((part, *path))} "
            assert [one for one in problems(folder) if not one.startswith(where)] == []


def test_a_suite_with_twelve_problems_of_shapes_and_rules_in_the_same_files_reports_twelve(tmp_path: Path) -> None:
    changes = [
        *(put("cases", 0, key, value=1) for key in ("zzzz", "title")),
        put("cases", 0, "id", value="Greets It"),
        put("cases", 0, "faults", "responses", 2, "route", value="owm"),
        put("cases", 0, "faults", "network", 0, "attributes", "jitter", value=1),
        put("cases", 0, "expect", "neverTools", value=["refnud", 5]),
        put("routes", 0, "zzzz", value=1),
        put("routes", 0, "method", value="GTE"),
        put("routes", 1, "match", "query", value={"a": 1}),
        put("routes", 3, "priority", value=0),
        put("rules", 0, "when", "case", value="greets-it"),
    ]
    places = [place for place, _ in told(tmp_path / "desk", *changes)]
    assert places == [
        "desk/cases.json /cases/0/expect/neverTools/0",
        "desk/cases.json /cases/0/expect/neverTools/1",
        "desk/cases.json /cases/0/faults/network/0/attributes/jitter",
        "desk/cases.json /cases/0/faults/responses/2/route",
        "desk/cases.json /cases/0/id",
        "desk/cases.json /cases/0/title",
        "desk/cases.json /cases/0/zzzz",
        "desk/models/support.json /rules/0/when/case",
        "desk/routes.json /routes/0/method",
        "desk/routes.json /routes/0/zzzz",
        "desk/routes.json /routes/1/match/query/a",
        "desk/routes.json /routes/4",
    ]


NEW_NAMES: dict[str, Change] = {
    "a state that no case has": put("routes", 1, "responses", 0, "json", value={"$state": "/ordrs"}),
    "a tool that no route answers": put("tools", 1, "http", value={"method": "POST", "path": "/order"}),
}
COULD_HAVE_IT: dict[str, dict[str, Change]] = {
    "a state that no case has": {
        "a state that is no object": file("state.json", "[]"),
        "a state with half a key": file("state.json", '{"a": {"\\ud800": 1}}'),
        "a state of a case that is no object": put("cases", 1, "state", value=5),
        "a misspelt state of a case": put("cases", 1, "sttate", value={"ordrs": []}),
        "routes of a case that are none": put("cases", 0, "routes", value=5),
        "a route that is none": lambda folder: folder.routes.append(5),
        "effects that are none": put("routes", 0, "effects", value={}),
        "misspelt effects": put("routes", 1, "efects", value=[]),
        "an effect without operation": put("routes", 1, "effects", value=[{"path": "/ordrs", "value": 1}]),
        "an effect without path": put("routes", 1, "effects", value=[{"op": "add", "value": 1}]),
    },
    "a tool that no route answers": {
        "routes of a case that are none": put("cases", 0, "routes", value=5),
        "a route that is none": lambda folder: folder.routes.append(5),
        "a route of an unknown method": put("routes", 1, "method", value="PSOT"),
        "a route without path": lambda folder: folder.routes[2].pop("path"),
        "a route of a case with half a parameter": put("cases", 0, "routes", 0, "path", value="/{a"),
        "a list of forbidden tools that is none": put("cases", 0, "expect", "neverTools", value=5),
    },
}


@pytest.mark.parametrize("name", NEW_NAMES)
def test_what_nothing_can_have_is_one_problem(tmp_path: Path, name: str) -> None:
    forbids = put("cases", 0, "expect", "neverTools", value=[])
    assert len(told(tmp_path / "desk", forbids, NEW_NAMES[name])) == 1


@pytest.mark.parametrize(
    ("name", "broken"),
    [pytest.param(name, one, id=f"{name}, {one}") for name, changes in COULD_HAVE_IT.items() for one in changes],
)
def test_nothing_is_sure_to_be_nowhere_while_what_could_have_it_is_broken(
    tmp_path: Path, name: str, broken: str
) -> None:
    change = COULD_HAVE_IT[name][broken]
    forbids = put("cases", 0, "expect", "neverTools", value=[])
    alone = told(tmp_path / "1" / "desk", forbids, change)
    assert len(alone) == 1
    assert told(tmp_path / "2" / "desk", forbids, NEW_NAMES[name], change) == alone


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_makes_nothing_be_nowhere(tmp_path: Path, name: str) -> None:
    """But for files in which nothing could be of what is looked for."""
    for number, change in enumerate(NEW_NAMES.values()):
        found = told(tmp_path / str(number) / "desk", change, UNREADABLE[name])
        assert len(found) - ("/routes/1/responses/0/json" in str(found) or "/tools/1/http" in str(found)) == 1
        if any(part in name for part in ("routes", "cases")) or (number == 0 and "state.json" in name):
            assert len(found) == 1, found
