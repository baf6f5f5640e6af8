"""JSON Schemas that an agent's text can neither hang nor break: no network, patterns by RE2, and an end to the time.

The library compares every pair of a list's items, searches patterns by backtracking, and follows a reference to itself
until Python gives up: an agent chooses the text, so each of these has a bound here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from contracts.canonical import canonical_json
from contracts.record import Json
from runner import clock
from runner.checks.text_patterns import UnusableError, search
from runner.json_values import digest_of_any

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

SCHEMA_S = 10.0
"""For one text against one schema."""
_HANGING_TOGETHER = (b'"unevaluatedProperties"', b'"patternProperties"')
"""Of these the library itself searches the patterns."""
Keyword = Callable[[Any, Json, Json, Json], "Iterator[ValidationError] | None"]


class _Deadline(threading.local):
    at = float("inf")


_deadline = _Deadline()


def schema_trouble(document: Json, *, schema: Json, seconds: float = SCHEMA_S) -> str | None:
    """Where the document does not fit: its JSON pointer and the schema's keyword; None when it fits.

    Raises UnusableError for a schema that is none, that refers to something outside of itself or to itself without
    end, whose patterns RE2 refuses, or that takes longer than `seconds`.
    """
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - most runs need none

    validator = _validator(canonical_json(schema))
    _deadline.at = clock.elapsed_s() + seconds
    try:
        error = min(
            validator.iter_errors(document),
            key=lambda error: (len(error.path), list(map(str, error.path))),
            default=None,
        )
    except Unresolvable as trouble:
        raise UnusableError(f"the schema refers to {trouble.ref}, which is not in it") from trouble
    except RecursionError as trouble:
        raise UnusableError("the schema refers to itself without end, or the JSON is nested too deeply") from trouble
    except ArithmeticError as trouble:
        raise UnusableError("a number of the JSON is too big for the schema's arithmetic") from trouble
    if error is None:
        return None
    pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.absolute_path)
    return f"{pointer or '(whole)'}: {error.validator}"


@lru_cache(maxsize=256)
def _validator(schema_text: bytes) -> Validator:
    from jsonschema import SchemaError  # noqa: PLC0415 - most runs need none
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    if all(name in schema_text for name in _HANGING_TOGETHER):
        raise UnusableError("the schema has unevaluatedProperties beside patternProperties, which could hang")
    schema = json.loads(schema_text)
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as trouble:
        raise UnusableError(f"the schema is none: {trouble.message}") from trouble
    # an empty registry: nothing is ever fetched
    return _bounded(kind)(schema, registry=Registry())


@lru_cache
def _bounded(kind: type[Validator]) -> type[Validator]:
    """The dialect with what could hang replaced, and every keyword under the deadline."""
    from jsonschema.validators import extend  # noqa: PLC0415 - most runs need none

    own: dict[str, Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    keywords = {**kind.VALIDATORS, **{name: keyword for name, keyword in own.items() if name in kind.VALIDATORS}}
    bounded: type[Validator] = extend(  # type: ignore[no-untyped-call]
        kind, {name: _timed(keyword) for name, keyword in keywords.items()}
    )
    return bounded


def _timed(keyword: Keyword) -> Keyword:
    def timed(validator: Any, value: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
        if clock.elapsed_s() > _deadline.at:
            raise UnusableError("the JSON could not be held against the schema in time")
        yield from keyword(validator, value, instance, schema) or ()

    return timed


def _failed(words: str) -> ValidationError:
    from jsonschema import ValidationError  # noqa: PLC0415 - most runs need none

    return ValidationError(words)


def _pattern(validator: Any, pattern: str, instance: Json, schema: Json) -> Iterator[ValidationError]:  # noqa: ARG001
    if validator.is_type(instance, "string") and not search(instance, pattern):
        yield _failed("no match")


def _pattern_properties(
    validator: Any,
    patterns: Mapping[str, Json],
    instance: Json,
    schema: Json,  # noqa: ARG001 - the library's signature
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, below in patterns.items():
        for key, value in instance.items():
            if search(key, pattern):
                yield from validator.descend(value, below, path=key, schema_path=pattern)


def _additional_properties(validator: Any, below: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    patterns, named = schema.get("patternProperties", {}), schema.get("properties", {})
    extras = [key for key in instance if key not in named and not any(search(key, pattern) for pattern in patterns)]
    if validator.is_type(below, "object"):
        for key in extras:
            yield from validator.descend(instance[key], below, path=key)
    elif below is False and extras:
        yield _failed("additional properties")


def _unique_items(validator: Any, wanted: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:  # noqa: ARG001
    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({digest_of_any(item) for item in instance}) < len(instance):
        yield _failed("not unique")
