"""What is sent back: status, headers, bytes and their digest, as ready for the wire as they can be."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.route import Response
from fixture_api.digests import response_digest, response_digest_tail
from fixture_api.templates import Context, Template, compile_template, is_constant

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_FRAMING = frozenset(
    {"connection", "content-length", "date", "keep-alive", "server", "trailer", "transfer-encoding", "upgrade"}
)
_NO_BODY = (204, 205, 304)
_NO_LENGTH = (204, 304)
_KNOWN = frozenset(HTTPStatus)


class Head(NamedTuple):
    """The part of an answer that does not depend on the body."""

    status: int
    wire: bytes
    """Status line and headers as they are sent, each with its end of line."""
    digest_tail: str


class Answer(NamedTuple):
    """One answer; equal requests to equal worlds get equal ones."""

    head: Head
    length: bytes
    """The content-length line; empty where the status has none."""
    body: bytes
    digest: str

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.head.status

    @property
    def headers(self) -> dict[str, str]:
        """All headers by lower-case name."""
        lines = (self.head.wire + self.length).decode("latin-1").split("\r\n")[1:-1]
        return dict(line.split(": ", 1) for line in lines)


def make_head(status: int, headers: Mapping[str, str]) -> Head:
    """Status and headers by lower-case name, as wire and digest need them."""
    phrase = HTTPStatus(status).phrase if status in _KNOWN else ""
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    wire = "".join(line + "\r\n" for line in lines).encode("latin-1")
    return Head(status, wire, response_digest_tail(status, headers.items()))


def make_answer(head: Head, body: bytes) -> Answer:
    """The answer with that body."""
    length = b"" if head.status in _NO_LENGTH else b"content-length: %d\r\n" % len(body)
    return Answer(head, length, body, response_digest(body, tail=head.digest_tail))


def without_body(answer: Answer) -> Answer:
    """The answer to HEAD: the headers of GET, and the digest of what is really sent, which is nothing."""
    return answer._replace(body=b"", digest=response_digest(b"", tail=answer.head.digest_tail))


def allowed(methods: Collection[str]) -> Answer:
    """The answer to OPTIONS: what can be asked there."""
    names = {*methods, "OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
    return make_answer(make_head(HTTPStatus.NO_CONTENT, {"allow": ", ".join(sorted(names))}), b"")


def cut_off(answer: Answer, *, after: int) -> Answer:
    """What is sent of an answer that announces its whole length and ends after so many bytes; there must be more."""
    body = answer.body[:after]
    return answer._replace(body=body, digest=response_digest(body, tail=answer.head.digest_tail))


def json_bytes(value: Json) -> bytes:
    """Compact JSON, members in the order in which the suite has them."""
    return _ENCODE(value).encode()


@dataclass(frozen=True, slots=True)
class CompiledResponse:
    """A response of a route: bytes where nothing in it changes, a template where something does."""

    head: Head
    delay_ms: int
    fixed: Answer | None
    template: Template | None

    def answer(self, context: Context) -> Answer:
        """The answer in that context; raises templates.MissingReferenceError."""
        if self.fixed is not None:
            return self.fixed
        assert self.template is not None  # noqa: S101 - one of the two is always there
        return make_answer(self.head, json_bytes(self.template.render(context)))


class ResponseError(ValueError):
    """A response that HTTP cannot carry."""


def compile_response(response: Response) -> CompiledResponse:
    """The response ready to be sent; raises ResponseError or templates.TemplateError."""
    headers = own_headers(response.headers)
    has_json = "json_body" in response.model_fields_set
    template = compile_template(response.json_body) if has_json else None
    content_type, body = _plain_body(response)
    if template is not None:
        content_type = "application/json"
    if content_type is not None:
        headers = {"content-type": content_type} | headers
    if response.status in _NO_BODY and (body or has_json):
        raise ResponseError(f"status {response.status} cannot have this body")
    head = make_head(response.status, headers)
    if template is not None and not is_constant(template):
        return CompiledResponse(head=head, delay_ms=response.delay_ms, fixed=None, template=template)
    if template is not None:
        body = _constant_json(response.json_body)
    return CompiledResponse(head=head, delay_ms=response.delay_ms, fixed=make_answer(head, body), template=None)


def _constant_json(value: Json) -> bytes:
    try:
        return json_bytes(value)
    except ValueError as error:
        raise ResponseError(f"the JSON body: {error}") from error


def _plain_body(response: Response) -> tuple[str | None, bytes]:
    if response.text is not None:
        return "text/plain; charset=utf-8", response.text.encode()
    if response.bytes_base64 is not None:
        try:
            return "application/octet-stream", base64.b64decode(response.bytes_base64, validate=True)
        except binascii.Error as error:
            raise ResponseError(f"bytesBase64: {error}") from error
    return None, b""


def own_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that a suite plans, by lower-case name; raises ResponseError for what HTTP does not allow there."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ResponseError(f"header {name!r} has a character that HTTP does not allow")
        if name.lower() in _FRAMING:
            raise ResponseError(f"header {name!r} belongs to the connection and not to an answer")
    return {name.lower(): value for name, value in headers.items()}
