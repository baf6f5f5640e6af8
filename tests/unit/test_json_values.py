"""JSON of agents: read strictly, compared as JSON, digested whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts.json_text import MAX_DEPTH, is_json, parse_json
from runner.json_values import digest_of_any, equal_json, first_difference


@pytest.mark.parametrize("text", ["", "NaN", "[Infinity]", "1e999", "{'a': 1}", "[1,]", "[" * 200_000])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of its kinds
        parse_json(text)


def test_depth_is_bounded() -> None:
    def nested(depth: int) -> str:
        return "[" * depth + "]" * depth

    assert parse_json(nested(MAX_DEPTH))
    with pytest.raises(ValueError, match="deep"):
        parse_json(nested(MAX_DEPTH + 2))


def test_lone_surrogates_are_replaced_in_keys_and_values_and_pairs_stay() -> None:
    assert parse_json(r'{"\ud800": ["\udc00", "\ud83d\ude00"]}') == {"?": ["?", "😀"]}


@pytest.mark.parametrize(("text", "holds"), [("{}", True), ("1", True), ("", False), ("NaN", False), ("[1", False)])
def test_is_json_only_reads(text: str, holds: bool) -> None:
    assert is_json(text) == holds


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, 0, False),
        (None, None, True),
        ("1", 1, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        ([1], [1, 1], False),
    ],
)
def test_equality_is_that_of_json(left: Any, right: Any, equal: bool) -> None:
    assert equal_json(left, right) == equal
    assert (first_difference(left, right) is None) == equal


def test_the_first_difference_is_a_pointer() -> None:
    assert first_difference({"a": [1, {"x/y": 2}]}, {"a": [1, {"x/y": 3}]}) == "/a/1/x~1y"
    assert first_difference({"a": 1}, {}) == "/a"
    assert first_difference({}, {"b": 1}) == "/b"
    assert first_difference([1, 2], [1]) == "/1"
    assert first_difference([3], [1, 2]) == "/0"


def test_every_json_value_has_a_digest_and_others_have_others() -> None:
    values = [json.loads(text) for text in ("9007199254740993", "9007199254740992", "1", "true", "[]", "{}", "1.5")]

    assert len({digest_of_any(value) for value in values}) == len(values)
    assert digest_of_any({"a": 1, "b": 2}) == digest_of_any({"b": 2, "a": 1.0})
