"""How the chat loop calls a tool over HTTP, and the fixed texts that a model gets when that goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.json_text import is_json
from contracts.record import Json
from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import BadArgumentsError, call_headers, encode_call
from runner.http_calls import Answer, Exchange, TimedOutError, UnreachableError

TIMED_OUT = '{"error":"the tool timed out"}'
NO_SUCH_TOOL = '{"error":"there is no such tool"}'
BAD_ARGUMENTS = '{"error":"the arguments are not valid JSON for this tool"}'
UNREACHABLE = '{"error":"the tool could not be reached"}'
NOT_JSON = '{"error":"the tool answered something that is not JSON"}'
BAD_STATUS = '{{"error":"the tool answered {status}"}}'

NO_HEADERS: Mapping[str, str] = {}
_OK = range(200, 300)
_NO_CONTENT = 204


@dataclass(frozen=True)
class ToolResult:
    """What the model is told, and what is known of the call: an HTTP status or a word."""

    text: str
    status: int | str


def call_tool(  # noqa: PLR0913 - the parts of a request
    server: Exchange,
    http: ToolHttp,
    arguments: dict[str, Json],
    *,
    prefix: str,
    seconds: float,
    more_headers: Mapping[str, str] = NO_HEADERS,
) -> ToolResult:
    """Call the tool once; whatever happens becomes a text for the model."""
    try:
        target, body = encode_call(http, arguments)
    except BadArgumentsError:
        return ToolResult(text=BAD_ARGUMENTS, status="bad-arguments")
    try:
        headers = {**call_headers(body), **more_headers}
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
