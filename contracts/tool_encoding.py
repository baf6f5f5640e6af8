"""How the arguments of a tool call become an HTTP request: the same for everybody who makes one from a tool's name."""

from __future__ import annotations

import json
import re
from urllib.parse import quote, urlencode

from contracts.record import Json
from contracts.suite.reading import LARGEST_EXACT_INTEGER
from contracts.suite.tool import ToolHttp

QUERY_METHODS = frozenset({"GET", "HEAD", "DELETE"})
"""Methods whose arguments are the query; the others have them in a JSON body."""

_PARAMETER = re.compile(r"\{([^{}]+)\}")


class BadArgumentsError(ValueError):
    """The arguments cannot be sent to this tool."""


def encode_call(http: ToolHttp, arguments: dict[str, Json]) -> tuple[str, bytes | None]:
    """Target (path and query) and body of a call.

    Raises:
        BadArgumentsError: a path parameter is missing or empty, or some value cannot be written as JSON.

    """
    try:
        return _encode(http, arguments)
    except BadArgumentsError:
        raise
    except (ValueError, RecursionError) as error:  # a lone surrogate, an integer of 5000 digits, 2000 brackets
        raise BadArgumentsError("some value cannot be written as JSON") from error


def call_headers(body: bytes | None) -> dict[str, str]:
    """The headers that a call has beside those of the connection, by lower-case name."""
    return {"accept": "application/json"} | ({"content-type": "application/json"} if body is not None else {})


def _encode(http: ToolHttp, arguments: dict[str, Json]) -> tuple[str, bytes | None]:
    rest = dict(arguments)

    def fill(found: re.Match[str]) -> str:
        if found[1] not in rest:
            raise BadArgumentsError(f"no argument {found[1]}")
        text = _as_text(rest.pop(found[1]))
        if not text:  # no server sees a segment there, so another tool's path could be the one that is left
            raise BadArgumentsError(f"the argument {found[1]} is empty, and it is a part of the path")
        return _segment(text)

    path = _PARAMETER.sub(fill, http.path)
    if http.method not in QUERY_METHODS:
        return path, json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()
    pairs = [(key, _as_text(item)) for key, value in rest.items() for item in _items(value)]
    return path + ("?" + urlencode(pairs, quote_via=quote) if pairs else ""), None


def _segment(text: str) -> str:
    # a bare dot segment would be resolved on the way
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, safe="")


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _as_text(value: Json) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT_INTEGER:
        value = int(value)  # JSON Schema's integer: 1.0 is 1, and is read back as one
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
