"""How the chat loop calls a tool over HTTP, and the fixed texts that a model gets when that goes wrong."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from contracts.record import Json
from contracts.suite.tool import ToolHttp
from runner.http_calls import Answer, Exchange, TimedOutError, UnreachableError
from runner.json_values import is_json

TIMED_OUT = '{"error":"the tool timed out"}'
NO_SUCH_TOOL = '{"error":"there is no such tool"}'
BAD_ARGUMENTS = '{"error":"the arguments are not valid JSON for this tool"}'
UNREACHABLE = '{"error":"the tool could not be reached"}'
NOT_JSON = '{"error":"the tool answered something that is not JSON"}'
BAD_STATUS = '{{"error":"the tool answered {status}"}}'

_QUERY_METHODS = frozenset({"GET", "HEAD", "DELETE"})
_PARAMETER = re.compile(r"\{([^{}]+)\}")
_OK = range(200, 300)
_NO_CONTENT = 204


@dataclass(frozen=True)
class ToolResult:
    """What the model is told, and what is known of the call: an HTTP status or a word."""

    text: str
    status: int | str


class BadArgumentsError(ValueError):
    """The arguments cannot be sent to this tool."""


def encode_call(http: ToolHttp, arguments: dict[str, Json]) -> tuple[str, bytes | None]:
    """Target (path and query) and body of a call; raises BadArgumentsError when a path parameter is missing."""
    rest = dict(arguments)

    def fill(found: re.Match[str]) -> str:
        if found[1] not in rest:
            raise BadArgumentsError(f"no argument {found[1]}")
        return _segment(_as_text(rest.pop(found[1])))

    path = _PARAMETER.sub(fill, http.path)
    if http.method not in _QUERY_METHODS:
        return path, json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()
    pairs = [(key, _as_text(item)) for key, value in rest.items() for item in _items(value)]
    return path + ("?" + urlencode(pairs, quote_via=quote) if pairs else ""), None


def _segment(text: str) -> str:
    # a bare dot segment would be resolved on the way
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, safe="")


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def call_tool(
    server: Exchange, http: ToolHttp, arguments: dict[str, Json], *, prefix: str, seconds: float
) -> ToolResult:
    """Call the tool once; whatever happens becomes a text for the model."""
    try:
        target, body = encode_call(http, arguments)
    except BadArgumentsError:
        return ToolResult(text=BAD_ARGUMENTS, status="bad-arguments")
    headers = {"accept": "application/json"} | ({"content-type": "application/json"} if body is not None else {})
    try:
        answer = server.exchange(http.method, prefix + target, body=body, headers=headers, seconds=seconds)
    except TimedOutError:
        return ToolResult(text=TIMED_OUT, status="timeout")
    except UnreachableError:
        return ToolResult(text=UNREACHABLE, status="unreachable")
    return ToolResult(text=answer_text(answer, method=http.method), status=answer.status)


def answer_text(answer: Answer, *, method: str) -> str:
    """What the model reads: the body where it is JSON, else a fixed text."""
    if answer.status not in _OK:
        return BAD_STATUS.format(status=answer.status)
    if answer.status == _NO_CONTENT or method == "HEAD":
        return ""
    if "json" not in answer.content_type.lower():
        return NOT_JSON
    try:
        text = answer.body.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_JSON
    return text if is_json(text) else NOT_JSON
