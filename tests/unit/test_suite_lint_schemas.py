"""Schemas that are looked at without the validator's library get the verdict that the library has."""

from __future__ import annotations

import random
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from contracts.suite.lint_patterns import _is_plain_schema

VALUES: list[Any] = [
    "object", "string", "txt", ["string", "null"], ["null", "null"], ["string", "txt"],
    1, 1.5, True, None, [], ["a"], ["a", "a"], [1], {}, {"a": {"type": "string"}},
    {"a": True}, {"a": 3}, {"type": "integer"}, {"type": "txt"}, {"required": ["b", "b"]},
]  # fmt: skip
KEYS = (
    "type", "title", "description", "properties", "required", "additionalProperties", "items", "enum", "const",
    "default", "minimum", "maximum", "$ref", "pattern",
)  # fmt: skip


def is_right(schema: dict[str, Any]) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


def test_what_is_plain_is_right() -> None:
    draw = random.Random(1701)  # noqa: S311 - a fixed sequence of schemas
    plain = 0
    for key in KEYS:
        for value in VALUES:
            schema = {key: value}
            assert is_right(schema) or not _is_plain_schema(schema), schema
    for _ in range(1000):
        schema = {key: draw.choice(VALUES) for key in draw.sample(KEYS, 2)}
        plain += _is_plain_schema(schema)
        assert is_right(schema) or not _is_plain_schema(schema), schema
    assert plain > 20
