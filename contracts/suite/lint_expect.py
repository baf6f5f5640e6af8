"""The rules of what a case expects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from contracts.record import Json
from contracts.suite.broken import UNKNOWN
from contracts.suite.case import Assertion, Expect
from contracts.suite.lint_patterns import judging_schema_refusal, re2_refusal
from contracts.suite.places import Path
from contracts.suite.problems import Place, Problem, unknown_name
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
_EXPECTATIONS = (*("toolCalls", "neverTools", "deniedTools", "toolOrder", "state", "assertions", "size", "relevance"),)
"""The keys that expect something by themselves."""
_EXPECTED_VALUES = {"json_schema": "a JSON Schema", "cost_threshold": "US dollars, at least 0"}
_REFUSALS: dict[str, Callable[[Json], str | None]] = {"regex": re2_refusal, "json_schema": judging_schema_refusal}
_OF_A_TOOL = frozenset({"tool_called", "tool_not_called"})


def lint_expect(
    expect: Expect, place: Place, *, tools: Collection[str] | None, judges: bool, may_be_empty: bool = False
) -> Iterator[Problem]:
    """Everything that is wrong with the expectations at `place`; `tools` None: no list of them."""
    if expect.is_empty and not may_be_empty:
        text = "expects nothing; a case needs at least one expectation"
        yield Problem(text, place, reads=tuple(place / key for key in (*_EXPECTATIONS, UNKNOWN)))
    for index, assertion in enumerate(expect.assertions):
        yield from _lint_assertion(assertion, place / "assertions" / index, tools=tools, judges=judges)
    if tools is not None:
        for path, name in _named_tools(expect):
            if name not in tools:
                yield Problem(unknown_name("tool", name, tools), place.below(path))


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


def _lint_assertion(
    assertion: Assertion, place: Place, *, tools: Collection[str] | None, judges: bool
) -> Iterator[Problem]:
    kind = assertion.type.lower()
    if kind not in ASSERTION_TYPES:
        yield Problem(unknown_name("assertion type", assertion.type, ASSERTION_TYPES), place / "type")
    elif why := _value_refusal(kind, assertion.value, tools=tools, judges=judges):
        yield Problem(why, place / "value", reads=(place / "type", place / "value"))


def _value_refusal(kind: str, value: Json, *, tools: Collection[str] | None, judges: bool) -> str | None:
    expected = _EXPECTED_VALUES.get(kind, "text")
    if not _is_value_of(kind, value):
        return f"expected {expected}, found {describe(value)}{quoting_hint(value) if expected == 'text' else ''}"
    if judges and kind in _REFUSALS:
        return _REFUSALS[kind](value)
    if kind in _OF_A_TOOL and tools is not None and value not in tools:
        return unknown_name("tool", value, tools)
    return None


def _is_value_of(kind: str, value: Json) -> bool:
    if kind == "json_schema":
        return isinstance(value, dict | bool)
    if kind == "cost_threshold":
        return not isinstance(value, bool) and isinstance(value, int | float) and value >= 0
    return isinstance(value, str)
