"""The answers of the lab itself (problem+json, RFC 9457): equal causes, equal bytes."""

from __future__ import annotations

import re
from http import HTTPStatus

from contracts.record import Json
from fixture_api.answers import Answer, Head, json_bytes, make_answer, make_head

MEDIA_TYPE = "application/problem+json"

_CASE_ID = re.compile("[a-z0-9][a-z0-9._-]{0,99}")

_HEADS: dict[int, Head] = {}


def problem(status: int, title: str, detail: str, **members: Json) -> Answer:
    """The answer of a problem; `members` are further members of the object."""
    head = _HEADS.get(status)
    if head is None:
        head = _HEADS[status] = make_head(status, {"content-type": MEDIA_TYPE})
    return make_answer(head, json_bytes({"title": title, "status": status, "detail": detail, **members}))


UNKNOWN_PREFIX = problem(
    HTTPStatus.NOT_FOUND, "No such attempt", "No attempt is open under this prefix; a prefix dies with its attempt."
)
OTHER_CASE = problem(
    HTTPStatus.CONFLICT, "Two cases named", "The prefix belongs to one case and the header x-eval-case names another."
)
NO_CASE_NAMED = problem(
    HTTPStatus.CONFLICT,
    "No case named",
    "Nothing says which case this request belongs to: send the header x-eval-case: ID, or use FIXTURE_URL as it is.",
)
PREFIX_ONLY = problem(
    HTTPStatus.CONFLICT,
    "Only the prefix selects",
    "This fixture API takes requests below the prefix of an open attempt only (FIXTURE_SELECT=prefix): "
    "use FIXTURE_URL and MODEL_URL as they are. The header x-eval-case selects under FIXTURE_SELECT=hand or header.",
)
BODY_TOO_LARGE = problem(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Body too large", "A request body may have 8 MiB (8388608 bytes)."
)
HEADERS_TOO_LARGE = problem(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "Headers too large",
    "Request line and headers may have 64 KiB, trailers too.",
)
NOT_HTTP = problem(
    HTTPStatus.BAD_REQUEST,
    "No HTTP request",
    "What came is no HTTP/1.1 request with one header host; the connection is closed.",
)
TOO_SLOW = problem(
    HTTPStatus.REQUEST_TIMEOUT,
    "Too slow",
    "The request did not arrive in time: its headers or its body took too long from their first byte on.",
)
TOOL_CALL_LIMIT = problem(
    HTTPStatus.TOO_MANY_REQUESTS, "Tool call limit", "The attempt has made all the tool calls that its limit allows."
)
REQUEST_LIMIT = problem(
    HTTPStatus.TOO_MANY_REQUESTS,
    "Request limit",
    "The attempt has made all the requests beside its tool and model calls that it is allowed.",
)


def _not_allowed(title: str, detail: str, *, allow: str) -> Answer:
    """405, with the methods that are."""
    head = make_head(HTTPStatus.METHOD_NOT_ALLOWED, {"content-type": MEDIA_TYPE, "allow": allow})
    return make_answer(
        head, json_bytes({"title": title, "status": HTTPStatus.METHOD_NOT_ALLOWED.value, "detail": detail})
    )


MCP_ID = make_answer(
    make_head(HTTPStatus.BAD_REQUEST, {"content-type": "application/json"}),
    json_bytes(
        {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": "Invalid request: expected an id that is a text or a whole number"},
        }
    ),
)
MCP_BY_POST = _not_allowed(
    "Only POST",
    "/mcp takes each message as a POST and answers it there: it has no stream to GET and no session.",
    allow="POST",
)


def page_is_read_only(path: str) -> Answer:
    """A page of the lab was asked to change."""
    detail = f"{path} is the lab's own page, and can only be read: send GET. No route of a suite is there."
    return _not_allowed("Only for reading", detail, allow="GET, HEAD, OPTIONS")


def unknown_case(case_id: str | None) -> Answer:
    """The suite has no such case; what could be none, or must not be told (None), is not said again."""
    is_told = case_id is not None and _CASE_ID.fullmatch(case_id)
    detail = f"The suite has no case {case_id!r}." if is_told else "The suite has no case of the name in x-eval-case."
    return problem(HTTPStatus.NOT_FOUND, "No such case", detail)


def call_not_made(why: str) -> Answer:
    """A tool was called with arguments of which no request can be made."""
    return problem(HTTPStatus.BAD_REQUEST, "Not made", why)


def suite_broken(reason: str) -> Answer:
    """A route of the suite cannot do what it says."""
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The suite cannot answer", reason)
