"""Values of a record on one line for a person."""

from __future__ import annotations

import json

from contracts.attempt import Check
from contracts.record import Json


def json_text(value: Json) -> str:
    """A string as it is, any other JSON value in its compact form."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def check_title(check: Check) -> str:
    """The check's type and name, without saying the type twice."""
    kind = check.type.value
    return check.name if check.name == kind or check.name.startswith(f"{kind} ") else f"{kind} {check.name}"
