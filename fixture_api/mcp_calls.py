"""A tool call that came over MCP: made of the world as the same call over HTTP, and told in words an agent can use.

Which tool is called is what the message says, and never worked out from the path.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote

from contracts.journal import Via
from contracts.record import Json
from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import BadArgumentsError, call_headers, encode_call
from fixture_api.attempt import Attempt
from fixture_api.journal import Decision, Ending
from fixture_api.request import WorldRequest, read_request, read_target

UNMADE = "The call was not made: {why}."
CUT_OFF = "The tool's answer was cut off: the connection ended before all of it had come."
NOT_TEXT = "The tool answered {size} bytes that are no UTF-8 text."
NO_BODY = "The tool answered {status} without a body."


class Told(NamedTuple):
    """What an agent reads of a call."""

    text: str
    is_error: bool


class McpExchange:
    """One MCP request: the attempt that it belongs to, and what became of the tool call in it."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self.decision: Decision | None = None
        """Of the call; None as long as no request was made of the world."""
        self.error: Exception | None = None
        """A bug of ours that the SDK would turn into an answer."""

    def call(self, tool: str, http: ToolHttp, arguments: dict[str, Json]) -> Told:
        """Makes the call of a bound tool: one row of the journal, also where no request can be made of it."""
        try:
            target, body = encode_call(http, arguments)
        except BadArgumentsError as error:
            why = UNMADE.format(why=error)
            decision = self._attempt.decide_unmade(tool, unmade_request(http, arguments), why=why)
            return (
                told(decision) if decision.answer.status == HTTPStatus.TOO_MANY_REQUESTS else Told(why, is_error=True)
            )
        try:
            self.decision = self._decide(tool, http.method, target, body)
        except Exception as error:
            self.error = error
            raise
        return told(self.decision)

    def unknown(self) -> Told | None:
        """Counts a call of a tool that is not there; what the agent is told where that passes the limit."""
        refusal = self._attempt.count_unmade_call()
        return told(Decision(refusal)) if refusal else None

    def _decide(self, tool: str, method: str, target: str, body: bytes | None) -> Decision:
        raw_path, _, query = target.encode().partition(b"?")
        location = self._attempt.locate(method, raw_path)
        location = location._replace(call=self._attempt.tools.named(tool, location.target.segments))
        headers = [(name.encode(), value.encode()) for name, value in call_headers(body).items()]
        request = read_request(location.target, query_string=query, headers=headers, body=body or b"")
        return self._attempt.decide(location, request, via=Via.MCP)


def unmade_request(http: ToolHttp, arguments: dict[str, Json]) -> WorldRequest:
    """What the row of a call says of which no request can be made: the path with its parameters unfilled.

    Its body, and so its digest, are the arguments; where JSON cannot carry them either, there is none.
    """
    try:
        body = json.dumps(arguments).encode()
    except (ValueError, RecursionError):  # an integer of 5000 digits, 2000 brackets
        body = b""
    target = read_target(http.method, quote(http.path, safe="/").encode())
    return read_request(target, query_string=b"", headers=[(b"content-type", b"application/json")], body=body)


def told(decision: Decision) -> Told:
    """The body as text where there is one; else a sentence. Whatever is not a whole text with status < 400 is an error.

    A call that is held is told too; nobody gets to read it.
    """
    answer = decision.answer
    is_error = answer.status >= HTTPStatus.BAD_REQUEST
    if decision.ending is not Ending.WHOLE:
        return Told(CUT_OFF, is_error=True)
    if is_error and not answer.body:
        return Told(NO_BODY.format(status=answer.status), is_error)
    try:
        return Told(answer.body.decode(), is_error)
    except UnicodeDecodeError:
        return Told(NOT_TEXT.format(size=len(answer.body)), is_error=True)
