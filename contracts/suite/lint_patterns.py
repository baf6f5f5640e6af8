"""Regular expressions and JSON Schemas that could not be used; each is asked of the very library that will use it.

RE2, because an agent's text is searched and must not hang who searches. JSON Schema only driver and runner have: the
libraries are imported when a suite needs them, and where one is not installed its rule is left to the others.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.util import find_spec

from contracts.record import Json
from contracts.suite.schema_references import lost_reference

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_PLAIN_KEYS: dict[str, tuple[type, ...]] = {
    "type": (str, list),
    "title": (str,),
    "description": (str,),
    "properties": (dict,),
    "required": (list,),
    "additionalProperties": (bool,),
    "items": (dict,),
    "enum": (list,),
    "const": (object,),
    "default": (object,),
    "minimum": (int, float),
    "maximum": (int, float),
}
_REMEMBERED = 1024
"""Verdicts: cases of one suite often share a pattern."""


@lru_cache(maxsize=_REMEMBERED)
def re2_refusal(pattern: str) -> str | None:
    """Why RE2 refuses a regular expression (assertions, rules of scripted models), or None."""
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
    if not isinstance(schema, dict) or _is_plain_schema(schema) or find_spec("jsonschema") is None:
        return None
    return _written_schema_refusal(json.dumps(schema))


def judging_schema_refusal(schema: Json) -> str | None:
    """As `schema_refusal`, for a schema that an agent's text is held against: its patterns are searched by RE2."""
    why = schema_refusal(schema)
    if why is not None:
        return why
    if lost := lost_reference(schema):
        return f"a JSON Schema that cannot be used: {lost}"
    for pattern in _patterns_in(schema):
        if refused := re2_refusal(pattern):
            return f'the pattern "{pattern}" is {refused}'
    return None


def _patterns_in(schema: Json) -> Iterator[str]:
    """Every text that a schema may use as a pattern."""
    if isinstance(schema, list):
        for item in schema:
            yield from _patterns_in(item)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    if isinstance(schema.get("patternProperties"), dict):
        yield from schema["patternProperties"]
    for value in schema.values():
        yield from _patterns_in(value)


def _is_plain_schema(schema: Json) -> bool:
    """True for what most tools have, which is right in 2020-12: it spares every process an import of 0.2 s."""
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN_KEYS.keys():
        return False
    if not all(_is_plain(value, _PLAIN_KEYS[key]) for key, value in schema.items()):
        return False
    types = schema.get("type", "null")
    if types == [] or not _are_names(types if isinstance(types, list) else [types], _TYPES):
        return False
    below = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return _are_names(schema.get("required", [])) and all(map(_is_plain_schema, below))


def _are_names(names: list[Json], known: Collection[str] | None = None) -> bool:
    """True for texts that are all different and, where `known` says so, among the known ones."""
    are_texts = all(isinstance(name, str) and (known is None or name in known) for name in names)
    return are_texts and len(set(names)) == len(names)


def _is_plain(value: Json, kinds: tuple[type, ...]) -> bool:
    """True for a value of one of the kinds; true and false are no numbers."""
    return isinstance(value, kinds) and not (isinstance(value, bool) and int in kinds)


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
