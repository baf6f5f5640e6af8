"""Regular expressions in linear time (RE2) and JSON Schemas without the network; both are imported when used."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from contracts.canonical import canonical_json
from contracts.record import Json

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class UnusableError(Exception):
    """The suite's pattern or schema cannot be used; the text says why."""


def search(text: str, pattern: str) -> bool:
    """Whether RE2 finds the pattern in the text; raises UnusableError for a pattern that RE2 refuses."""
    import re2  # noqa: PLC0415 - most runs need none

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.search(pattern, text, options) is not None
    except re2.error as trouble:
        raise UnusableError(f"RE2 refuses the expression: {trouble}") from trouble


def schema_trouble(document: Json, *, schema: Json) -> str | None:
    """Where the document does not fit: its JSON pointer and the schema's keyword; None when it fits.

    Raises UnusableError for a schema that is none, or that refers to something outside of itself.
    """
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - most runs need none

    validator = _validator(canonical_json(schema))
    try:
        error = min(
            validator.iter_errors(document),
            key=lambda error: (len(error.path), list(map(str, error.path))),
            default=None,
        )
    except Unresolvable as trouble:
        raise UnusableError(f"the schema refers to {trouble.ref}, which is not in it") from trouble
    if error is None:
        return None
    pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.absolute_path)
    return f"{pointer or '(whole)'}: {error.validator}"


@lru_cache(maxsize=256)
def _validator(schema_text: bytes) -> Validator:
    import json  # noqa: PLC0415 - the text is only a key of the cache

    from jsonschema import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    schema = json.loads(schema_text)
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as trouble:
        raise UnusableError(f"the schema is none: {trouble.message}") from trouble
    # an empty registry: nothing is ever fetched
    return kind(schema, registry=Registry())
