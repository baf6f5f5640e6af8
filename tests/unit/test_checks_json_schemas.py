"""json_schema against texts that an agent chose to hang, break or escape the judge."""

from __future__ import annotations

from typing import Any

import pytest

from runner.checks.json_schemas import schema_trouble
from runner.checks.text_patterns import UnusableError

EVIL = "^(a+)+$"
LONG = "a" * 5000 + "!"


@pytest.mark.parametrize(
    ("schema", "document", "trouble"),
    [
        ({"pattern": EVIL}, LONG, "(whole): pattern"),
        ({"pattern": EVIL}, "a" * 5000, None),
        ({"patternProperties": {EVIL: False}}, {LONG: 1}, None),
        ({"patternProperties": {EVIL: {"type": "string"}}}, {"aa": 1}, "/aa: type"),
        (
            {"patternProperties": {EVIL: True}, "additionalProperties": False},
            {LONG: 1},
            "(whole): additionalProperties",
        ),
        ({"patternProperties": {EVIL: True}, "additionalProperties": False}, {"aaa": 1}, None),
        ({"properties": {"b": True}, "additionalProperties": {"type": "string"}}, {"b": 1, "c": 1}, "/c: type"),
        ({"propertyNames": {"pattern": EVIL}}, {LONG: 1}, "(whole): pattern"),
    ],
)
def test_patterns_are_searched_in_linear_time(schema: Any, document: Any, trouble: str | None) -> None:
    assert schema_trouble(document, schema=schema) == trouble


def test_a_long_list_is_looked_through_once() -> None:
    items = [{"a": number} for number in range(5000)]

    assert schema_trouble(items, schema={"uniqueItems": True}) is None
    assert schema_trouble([*items, {"a": 7.0}], schema={"uniqueItems": True}) == "(whole): uniqueItems"
    assert schema_trouble([1, True], schema={"uniqueItems": True}) is None


@pytest.mark.parametrize(
    ("schema", "document", "words"),
    [
        ({"$ref": "#"}, 1, "refers to itself without end"),
        ({"$ref": "file:///etc/passwd"}, 1, "file:///etc/passwd, which is not in it"),
        ({"multipleOf": 0.1}, 10**400, "too big for the schema's arithmetic"),
        ({"pattern": "(?<=a)b"}, "ab", "RE2 refuses the expression"),
        ({"patternProperties": {"a": True}, "unevaluatedProperties": False}, {}, "which could hang"),
    ],
)
def test_what_cannot_be_told_is_said_and_never_an_exception(schema: Any, document: Any, words: str) -> None:
    with pytest.raises(UnusableError, match=words):
        schema_trouble(document, schema=schema)


def test_a_schema_that_takes_ever_longer_has_an_end() -> None:
    below = {"properties": {"a": {"$ref": "#"}}, "required": ["b"]}
    document: Any = 1
    for _ in range(40):
        document = {"a": document}

    with pytest.raises(UnusableError, match="in time"):
        schema_trouble(document, schema={"anyOf": [below, below]}, seconds=0.2)


@pytest.mark.parametrize("draft", ["04", "06", "07"])
def test_older_dialects_have_the_same_bounds(draft: str) -> None:
    schema = {"$schema": f"http://json-schema.org/draft-{draft}/schema#", "pattern": EVIL}

    assert schema_trouble(LONG, schema=schema) == "(whole): pattern"
