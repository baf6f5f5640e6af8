"""Small changes to a right suite, each of which a test names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fakes.suite_folder import CASE, ROUTE, RULE, TOOL, SuiteFolder

Change = Callable[[SuiteFolder], object]


def expect(**keys: Any) -> Change:
    """The first case expects this too."""
    return lambda folder: folder.cases[0].update(expect={**CASE["expect"], **keys})  # type: ignore[dict-item]  # a JSON object


def assertion(kind: str, value: Any) -> Change:
    """The first case expects one assertion and nothing else."""
    return lambda folder: folder.cases[0].update(expect={"assertions": [{"type": kind, "value": value}]})


def case(**keys: Any) -> Change:
    """Keys of the first case."""
    return lambda folder: folder.cases[0].update(keys)


def misspelt(key: str, written: str) -> Change:
    """A key of the first case, written in another way."""
    return lambda folder: folder.cases[0].update({written: folder.cases[0].pop(key)})


def second_case(**keys: Any) -> Change:
    """A second case."""
    return lambda folder: folder.cases.append({**CASE, "id": "second", **keys})


def route(**keys: Any) -> Change:
    """Keys of the first route."""
    return lambda folder: folder.routes[0].update(keys)


def second_route(**keys: Any) -> Change:
    """A second route."""
    return lambda folder: folder.routes.append({**ROUTE, "id": "second", "path": "/second", "responses": [{}], **keys})


def response(**keys: Any) -> Change:
    """The first route's only response."""
    return route(responses=[keys])


def effect(**keys: Any) -> Change:
    """The first route's only effect."""
    return route(effects=[keys])


def tool(*, function: dict[str, Any] | None = None, **keys: Any) -> Change:
    """Keys of the first tool and of its function."""
    return lambda folder: folder.tools[0].update(function={**TOOL["function"], **(function or {})}, **keys)  # type: ignore[dict-item]  # a JSON object


def rule(when: dict[str, Any] | None = None, reply: dict[str, Any] | None = None) -> Change:
    """A rule before the others, which it does not take everything from."""
    return lambda folder: folder.rules.insert(0, {"when": when or {"turn": 1}, "reply": reply or RULE["reply"]})


def settings(old: str, new: str) -> Change:
    """A piece of suite.toml replaced."""

    def change(folder: SuiteFolder) -> None:
        assert old in folder.settings
        folder.settings = folder.settings.replace(old, new, 1)

    return change


def top(line: str) -> Change:
    """A line before all others of suite.toml."""
    return lambda folder: setattr(folder, "settings", line + "\n" + folder.settings)


def below(lines: str) -> Change:
    """Lines after all others of suite.toml."""
    return lambda folder: setattr(folder, "settings", folder.settings + "\n" + lines + "\n")


def response_fault(*faults: dict[str, Any]) -> Change:
    """The first case's response faults; those without a route are on the first one."""
    return case(faults={"responses": [{"route": "read-order", **fault} for fault in faults]})


def toxic(**keys: Any) -> Change:
    """The first case's only network fault."""
    return toxics(keys)


def toxics(*faults: dict[str, Any]) -> Change:
    """The first case's network faults."""
    return case(faults={"network": list(faults)})


def both(*changes: Change) -> Change:
    """All of the changes, in order."""

    def change(folder: SuiteFolder) -> None:
        for one in changes:
            one(folder)

    return change


def file(name: str, text: str) -> Change:
    """A file as it is."""
    return lambda folder: folder.texts.update({name: text})


def content(name: str, data: bytes) -> Change:
    """A file that is no text."""
    return lambda folder: folder.contents.update({name: data})


def link(name: str, target: str) -> Change:
    """A link in place of what is there."""
    return lambda folder: folder.links.update({name: target})


BrokenRule = tuple[str, Change, str, str]
"""What is wrong, the change, and the place (file, pointer, line) and a part of the text of the one problem."""
NO_TOOL = 'unknown tool "lookup_ordr"; did you mean "lookup_order"?'
NO_PARAM = 'unknown parameter of the path "order"; did you mean "order_id"?'
AGENT = "[agents.extra]\n"
