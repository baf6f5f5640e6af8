"""Values of the evidence as a comparison may show them: at the lower capture level of both runs, and not too long."""

from __future__ import annotations

import json

from contracts.record import Json
from ledger.behaviour import comparable

MOST_CHARS = 2000
"""Of a value's JSON text."""


def shown(value: Json, *, is_whole: bool) -> Json:
    """The value; unless both runs keep bodies, long texts as their size and digest, whatever one run has of them."""
    value = value if is_whole else comparable(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}... ({len(text)} characters)"
