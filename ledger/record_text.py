"""Values of a record on one line for a person."""

from __future__ import annotations

import json

from contracts.record import Json


def json_text(value: Json) -> str:
    """A string as it is, any other JSON value in its compact form."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
