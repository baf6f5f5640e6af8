"""Regular expressions and JSON Schemas that could not be used; each is asked of the very library that will use it.

Those of assertions are RE2 and JSON Schema, which only driver and runner have and judge with: the libraries are
imported when a suite needs them, and where they are not installed this one rule is left to the others.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.util import find_spec

from contracts.record import Json

_REMEMBERED = 1024
"""Verdicts: cases of one suite often share a pattern."""


@lru_cache(maxsize=_REMEMBERED)
def regex_refusal(pattern: str) -> str | None:
    """Why a text is no regular expression of the standard library (rules of scripted models), or None."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"no valid regular expression: {error}"
    return None


@lru_cache(maxsize=_REMEMBERED)
def re2_refusal(pattern: str) -> str | None:
    """Why RE2 refuses a regular expression (assertions), or None."""
    if find_spec("re2") is None:
        return None
    import re2  # noqa: PLC0415 - most suites need none

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        return f"no valid regular expression (RE2): {_text(error)}"
    return None


def schema_refusal(schema: Json) -> str | None:
    """Why an object is no JSON Schema of the dialect that it names (2020-12 where it names none), or None."""
    if not isinstance(schema, dict) or find_spec("jsonschema") is None:
        return None
    return _written_schema_refusal(json.dumps(schema))


@lru_cache(maxsize=_REMEMBERED)
def _written_schema_refusal(text: str) -> str | None:
    from jsonschema import SchemaError  # noqa: PLC0415 - most suites need none
    from jsonschema.validators import validator_for  # noqa: PLC0415

    schema = json.loads(text)
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        pointer = "".join(f"/{step}" for step in error.absolute_path)
        return f"no valid JSON Schema: {pointer or 'the whole'}: {error.message}"
    return None


def _text(error: Exception) -> str:
    """The library's words; it raises them as bytes."""
    words = error.args[0] if error.args else ""
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
