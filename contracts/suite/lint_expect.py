"""The rules of what a case expects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from contracts.record import Json
from contracts.suite.case import Assertion, Expect
from contracts.suite.lint_patterns import re2_refusal, schema_refusal
from contracts.suite.places import Path
from contracts.suite.problems import unknown_name
from contracts.suite.wording import describe, quoting_hint

ASSERTION_TYPES = (
    "contains",
    "not_contains",
    "equals",
    "starts_with",
    "ends_with",
    "regex",
    "json_schema",
    "tool_called",
    "tool_not_called",
    "cost_threshold",
)
_EXPECTED_VALUES = {"json_schema": "a JSON Schema", "cost_threshold": "US dollars, at least 0"}
_REFUSALS: dict[str, Callable[[Json], str | None]] = {"regex": re2_refusal, "json_schema": schema_refusal}
_OF_A_TOOL = frozenset({"tool_called", "tool_not_called"})


def lint_expect(expect: Expect, *, tools: Collection[str] | None, judges: bool) -> Iterator[tuple[Path, str]]:
    """The path below `expect` and the text of everything that is wrong there; `tools` None: no list of them."""
    if expect.is_empty:
        yield (), "expects nothing; a case needs at least one expectation"
    for index, assertion in enumerate(expect.assertions):
        for key, text in _lint_assertion(assertion, tools=tools, judges=judges):
            yield ("assertions", index, key), text
    if tools is not None:
        for path, name in _named_tools(expect):
            if name not in tools:
                yield path, unknown_name("tool", name, tools)


def _named_tools(expect: Expect) -> Iterator[tuple[Path, str]]:
    for index, call in enumerate(expect.tool_calls or ()):
        yield ("toolCalls", index, "name"), call.name
    for index, name in enumerate(expect.never_tools):
        yield ("neverTools", index), name
    for index, name in enumerate(expect.denied_tools):
        yield ("deniedTools", index), name
    for index, pair in enumerate(expect.tool_order):
        for position, name in enumerate(pair):
            yield ("toolOrder", index, position), name


def _lint_assertion(assertion: Assertion, *, tools: Collection[str] | None, judges: bool) -> Iterator[tuple[str, str]]:
    """The key and the text of each problem."""
    kind, value = assertion.type.lower(), assertion.value
    expected = _EXPECTED_VALUES.get(kind, "text")
    if kind not in ASSERTION_TYPES:
        yield "type", unknown_name("assertion type", assertion.type, ASSERTION_TYPES)
    elif not _is_value_of(kind, value):
        yield (
            "value",
            f"expected {expected}, found {describe(value)}{quoting_hint(value) if expected == 'text' else ''}",
        )
    elif judges and kind in _REFUSALS and (why := _REFUSALS[kind](value)):
        yield "value", why
    elif kind in _OF_A_TOOL and tools is not None and value not in tools:
        yield "value", unknown_name("tool", value, tools)


def _is_value_of(kind: str, value: Json) -> bool:
    if kind == "json_schema":
        return isinstance(value, dict | bool)
    if kind == "cost_threshold":
        return not isinstance(value, bool) and isinstance(value, int | float) and value >= 0
    return isinstance(value, str)
