"""A schema of an assertion refers to itself alone: what it cannot reach is told before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.suite.lint_patterns import judging_schema_refusal
from contracts.suite.schema_references import lost_reference


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "http://example.com/s.json"}, "is outside of the schema, and nothing is fetched"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "is outside of the schema, and nothing is fetched"),
        ({"$ref": "other.json#/a"}, "is outside of the schema, and nothing is fetched"),
        ({"$defs": {"a": {}}, "$ref": "#/$defs/b"}, "leads to no place of the schema"),
        ({"allOf": [{}], "$ref": "#/allOf/1"}, "leads to no place of the schema"),
        ({"$ref": "#nobody"}, "names no anchor of the schema"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused(schema: dict[str, Any], why: str) -> None:
    found = lost_reference(schema)
    assert found is not None
    assert found.endswith(f" {why}")
    assert judging_schema_refusal(schema) == f"a JSON Schema that cannot be used: {found}"


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"$defs": {"a/b": {}}, "$ref": "#/$defs/a~1b"},
        {"$defs": {"é": {}}, "$ref": "#/$defs/%C3%A9"},
        {"allOf": [{}], "$ref": "#/allOf/0"},
        {"$defs": {"a": {"$anchor": "here"}}, "$ref": "#here"},
        {"items": {"$ref": "#"}},
        {"const": {"$ref": "http://example.com"}},
        {"$id": "http://example.com/a", "$defs": {"b": {"$id": "b"}}, "$ref": "b"},
    ],
)
def test_a_reference_within_the_schema_is_fine(schema: Any) -> None:
    assert lost_reference(schema) is None
