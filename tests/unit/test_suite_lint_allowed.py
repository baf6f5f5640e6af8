"""What looks unusual and is right all the same is no problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.suite.loading import load_suite
from tests.fakes.suite_changes import (
    AGENT,
    Change,
    assertion,
    below,
    case,
    effect,
    route,
    rule,
    second_route,
    tool,
    top,
)
from tests.fakes.suite_folder import RULE, SuiteFolder


def rules(*whens: dict[str, Any]) -> Change:
    return lambda folder: folder.rules.__setitem__(slice(None), [{"when": when, **RULE} for when in whens])


ALLOWED: list[tuple[str, Change]] = [
    ("other assertion spelling", assertion("Not_Contains", "x")),
    ("no tool calls expected", case(expect={"toolCalls": []})),
    ("a schema that is a boolean", assertion("json_schema", True)),  # noqa: FBT003 - a JSON Schema
    ("a case that waits for another value", second_route(path="/orders/{id}", match={"query": {"a": "1"}})),
    ("a tool of no suite, scripted", rule(reply={"toolCalls": [{"name": "no_such_thing"}]})),
    ("words that are no part of the later ones", rules({"text": "refund"}, {"text": "a re.fund"}, {"text": "re"})),
    ("an expression that may find less", rules({"text": "^refund"}, {"text": "a ^refund"}, {"text": "(?i)refund"})),
    ("rules that overlap", rules({"turn": 1}, {"case": "greets"}, {"prompt": "polite"})),
    ("an empty answer that is cut", rule(reply={"text": "", "cut": True, "usage": {}})),
    ("a value of null in an effect", effect(op="add", path="/a", value=None)),
    ("the whole request body", route(method="POST", responses=[{"json": {"$request": "/json"}}])),
    ("a suite without tools", lambda folder: folder.texts.update({"tools.json": '{"tools": []}'})),
    ("a real timezone", top('timezone = "Europe/Berlin"')),
    ("an unbound tool", tool(http=None)),
    ("an agent of a later version", below(AGENT + 'adapter = "http"\nurl = "http://agent:1"')),
    (
        "random toxics, relevance, setup, image",
        case(
            faults={"network": [{"type": "latency", "attributes": {"latency": 5}}]},
            setup="true",
            image="alpine",
            expect={"relevance": ["is polite"]},
        ),
    ),
]


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in ALLOWED])
def test_what_the_contract_allows_is_no_problem(tmp_path: Path, change: Change) -> None:
    folder = SuiteFolder(tmp_path / "desk")
    change(folder)
    assert load_suite(folder.write()).cases
