"""The rules of routes, the suite's and a case's own."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from contracts.suite.lint_templates import Params, lint_pointer, lint_template
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.route import WITHOUT_BODY, Effect, Response, Route
from contracts.suite.route_order import equally_good, is_param, path_segments
from contracts.suite.stand_ins import NO_NAME

_PARAM = re.compile(r"\{\w+\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")
_OF_THE_CONNECTION = frozenset(
    {"connection", "content-length", "date", "keep-alive", "server", "trailer", "transfer-encoding", "upgrade"}
)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_OF_THE_LAB = re.compile(r"/mcp|/health|/clock|/v1/chat/completions|/v1/models(/.*)?")
_PREFIX = re.compile(r"/~[0-9A-Fa-f]{32}(/.*)?")
_METHODS = frozenset(
    {
        *("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "SEARCH", "PURGE", "SOURCE"),
        *("ACL", "BIND", "CHECKOUT", "COPY", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE"),
        *("NOTIFY", "PROPFIND", "PROPPATCH", "REBIND", "REPORT", "SUBSCRIBE", "UNBIND", "UNLINK", "UNLOCK"),
        "UNSUBSCRIBE",
    }
)
"""What an HTTP server's parser takes; a request with any other method reaches no route."""
_PREFERS = ("method", "path", "priority", "match")
"""The keys of a route that say which requests it takes, and how gladly."""
_BODIES = {"json_body": "json", "text": "text", "bytes_base64": "bytesBase64"}
_TAKES_VALUE = frozenset({"add", "replace", "test"})
_TAKES_FROM = frozenset({"move", "copy"})


def lint_routes(routes: Iterable[tuple[int, Route]], place: Place) -> Iterator[Problem]:
    """Everything that is wrong with the routes of the list at `place`; their ids are looked at elsewhere."""
    routes = list(routes)
    for index, route in routes:
        yield from _lint_route(route, place / index)
    by_index = dict(routes)
    for one, other in equally_good((index, route) for index, route in routes if has_right_params(route.path)):
        name = by_index[one].id if by_index[one].id != NO_NAME else f"{place.path[-1]}/{one}"
        text = f'matches as well as "{name}": a request could be for either; give one a `priority`'
        reads = tuple(place / index / key for index in (one, other) for key in _PREFERS)
        yield Problem(text, place / other, reads=reads)


def has_right_params(path: str) -> bool:
    """False for a path with a segment like `{a b}`: what it takes nobody can tell, so no other is compared with it."""
    return not any(_is_wrong_param(segment) for segment in path_segments(path))


def _is_wrong_param(segment: str) -> bool:
    return ("{" in segment or "}" in segment) and not _PARAM.fullmatch(segment)


def lint_target(method: str, path: str, place: Place) -> Iterator[Problem]:
    """What is wrong with method and path of the route or binding at `place`."""
    if method not in _METHODS:
        yield Problem(unknown_name("method", method, _METHODS), place / "method")
    if _OF_THE_LAB.fullmatch(path):
        yield Problem(f'the fixture API itself answers "{path}"', place / "path")
    if _PREFIX.fullmatch(path):
        # A request of that path names an attempt, and most likely none that there is.
        text = f'"{path[:8]}…" begins as the prefix of an attempt does; write only the path after it'
        yield Problem(text, place / "path")
    yield from _lint_segments(path_segments(path), place / "path")


def _lint_segments(segments: Sequence[str], place: Place) -> Iterator[Problem]:
    for segment in segments:
        if _is_wrong_param(segment):
            yield Problem(f'"{segment}": a parameter is a whole segment, such as {{order_id}}', place)
        if segment in {".", ".."}:
            yield Problem(f'no client sends a segment "{segment}"', place)
        if _ESCAPE.search(segment):
            yield Problem(f'"{segment}": paths are decoded before they are compared; {_decoded_hint(segment)}', place)
    params = [segment for segment in segments if is_param(segment)]
    for param in sorted({param for param in params if params.count(param) > 1}):
        yield Problem(f"the parameter {param} is there twice", place)


def _decoded_hint(segment: str) -> str:
    decoded = unquote(segment)
    if "/" in decoded:
        return "only a parameter, such as {name}, takes a segment with a slash in it"
    return f'write "{decoded}"'


def _lint_route(route: Route, place: Place) -> Iterator[Problem]:
    yield from lint_target(route.method, route.path, place)
    yield from lint_headers(route.match.headers, place / "match" / "headers")
    names = {segment[1:-1] for segment in path_segments(route.path) if is_param(segment)}
    params = Params(names, place / "path")
    for index, response in enumerate(route.responses):
        yield from _lint_response(response, place / "responses" / index, params=params)
    for index, effect in enumerate(route.effects):
        yield from _lint_effect(effect, place / "effects" / index, params=params)


def _lint_response(response: Response, place: Place, *, params: Params) -> Iterator[Problem]:
    bodies = [key for name, key in _BODIES.items() if name in response.model_fields_set]
    if len(bodies) > 1:
        yield Problem(f"has {' and '.join(bodies)}; expected one of them at most", place, reads=())
    if response.status in WITHOUT_BODY and bodies:
        text = f"an answer with status {response.status} has no body"
        yield Problem(text, place / bodies[0], reads=(place / "status",))
    if response.bytes_base64 is not None and (why := _base64_refusal(response.bytes_base64)):
        yield Problem(why, place / "bytesBase64")
    yield from lint_sent_headers(response.headers, place / "headers")
    yield from lint_template(response.json_body, place / "json", params=params)


def _base64_refusal(text: str) -> str | None:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        return f"no valid base64: {error}"
    return None


def lint_sent_headers(headers: Mapping[str, str], place: Place) -> Iterator[Problem]:
    """What is wrong with headers that an answer is to have."""
    yield from lint_headers(headers, place)
    for name in headers:
        if name.lower() in _OF_THE_CONNECTION:
            yield Problem(f'the header "{name}" belongs to the connection, not to an answer', place / name, reads=())


def lint_headers(headers: Mapping[str, str], place: Place) -> Iterator[Problem]:
    """What is wrong with headers that are to be sent or matched."""
    seen: dict[str, str] = {}
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            yield Problem(f'"{name}" is no name of a header', place / name, reads=())
        if not _HEADER_VALUE.fullmatch(value):
            yield Problem(
                "a value that HTTP cannot carry: control characters, outer spaces or above U+00FF", place / name
            )
        first = seen.setdefault(name.lower(), name)
        if first != name:
            yield Problem(f'the header "{name}" differs from "{first}" only by case', place / name, reads=())


def _lint_effect(effect: Effect, place: Place, *, params: Params) -> Iterator[Problem]:
    op = place / "op"
    yield from lint_pointer(effect.path, place / "path", params=params)
    has_value, has_from = "value" in effect.model_fields_set, effect.from_path is not None
    for key, is_there, ops in (("value", has_value, _TAKES_VALUE), ("from", has_from, _TAKES_FROM)):
        if effect.op in ops and not is_there:
            yield Problem(f'"{effect.op}" needs the key "{key}"', place, reads=(op, place / key))
        if effect.op not in ops and is_there:
            yield Problem(f'"{effect.op}" has no key "{key}"', place / key, reads=(op,))
    if effect.op == "remove" and not effect.path:
        text = "the whole state cannot be removed; expected a pointer into it"
        yield Problem(text, place / "path", reads=(op, place / "path"))
    if effect.from_path is not None:
        yield from lint_pointer(effect.from_path, place / "from", params=params)
        if effect.op == "move" and effect.path.startswith(effect.from_path + "/"):
            text = f'"{effect.from_path}" cannot be moved into itself'
            yield Problem(text, place / "from", reads=(op, place / "path", place / "from"))
    yield from lint_template(effect.value, place / "value", params=params)
