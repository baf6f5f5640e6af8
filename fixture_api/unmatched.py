"""What an unmatched request came nearest to, and the parts that missed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from http import HTTPStatus
from itertools import islice

from contracts.control import RequestMiss, UnmatchedRequest
from contracts.record import Json
from contracts.suite.route_order import is_param, path_segments
from fixture_api.answers import Answer
from fixture_api.pointers import escape
from fixture_api.problems import problem
from fixture_api.request import ABSENT, WorldRequest, media_type_of
from fixture_api.routing import CompiledMatch, CompiledRoute, first_value, json_holds
from fixture_api.templates import IN_STATE

_ALIKE = 0.6
_MAX_SHOWN = 200
_MAX_FOUND = 4096
_MAX_VALUES = 8
_CONTENT_TYPE = b"content-type"


def explain(request: WorldRequest, routes: Iterable[CompiledRoute]) -> tuple[UnmatchedRequest, Answer]:
    """The record of an unmatched request and its 404; `routes` in order of preference decide ties."""
    near = _nearest(request, routes)
    if not near:
        return _report(request, None, ())
    misses = tuple(misses_of(request, near[0]))
    return _report(request, near[0], misses, others=_other_values(request, misses, near[1:]))


def explain_missing(request: WorldRequest, route: CompiledRoute, miss: RequestMiss) -> tuple[UnmatchedRequest, Answer]:
    """The same for a request that a route takes, but whose answer refers to what the request does not have."""
    unread = _unread(request) if miss.part == "json" else None
    if miss.found is not None:
        miss = miss.model_copy(update={"found": _bounded(miss.found)})
    return _report(request, route, (unread or miss,))


def _other_values(
    request: WorldRequest, misses: tuple[RequestMiss, ...], routes: Iterable[CompiledRoute]
) -> tuple[Json, ...]:
    """What else would have done for the only part that missed: what equally near routes expect of the same part."""
    if len(misses) != 1:
        return ()
    only, part = misses[0], (misses[0].part, misses[0].name)
    alike = (other for route in routes for other in misses_of(request, route) if (other.part, other.name) == part)
    return tuple(other.expected for other in islice(alike, _MAX_VALUES) if other.expected != only.expected)


def _report(
    request: WorldRequest,
    near: CompiledRoute | None,
    misses: tuple[RequestMiss, ...],
    *,
    others: tuple[Json, ...] = (),
) -> tuple[UnmatchedRequest, Answer]:
    record = UnmatchedRequest(
        method=request.target.method,
        path=request.target.path,
        nearest_route=near.route_id if near else None,
        misses=misses,
    )
    detail = f"No route answers {request.target.method} {request.target.path}."
    if near:
        detail += f" The nearest is {near.route_id} ({near.method} {near.path}): "
        detail += "; ".join(_sentence(miss, request) for miss in misses)
        detail += "".join(f" or {_shown(value)}" for value in others)
    nearest_route = {"id": near.route_id, "method": near.method, "path": near.path} if near else None
    shown = [miss.to_json() for miss in misses]
    return record, problem(
        HTTPStatus.NOT_FOUND,
        "No route matches",
        detail,
        method=request.target.method,
        path=request.target.path,
        nearestRoute=nearest_route,
        misses=shown,
    )


def _nearest(request: WorldRequest, routes: Iterable[CompiledRoute]) -> list[CompiledRoute]:
    """The routes that are nearest, all equally, in the order in which they came."""
    best: tuple[float, bool, int] | None = None
    nearest: list[CompiledRoute] = []
    for route in routes:
        distance = path_distance(request.target.segments, path_segments(route.path))
        is_far = distance >= len(request.target.segments) and request.target.path != "/"
        if is_far or (best and distance > best[0]):
            continue
        other_parts = len(list(_match_misses(request, route.match))) if route.match else 0
        score = (distance, route.method != request.target.method, other_parts)
        if best is None or score < best:
            best, nearest = score, []
        if score == best:
            nearest.append(route)
    return nearest


def path_distance(found: Sequence[str], expected: Sequence[str]) -> float:
    """How far a path is from a template: 1 for each segment that differs, a half for one that is nearly right."""
    # Cut, so that what is remembered of a hostile request stays small; and not a step for each segment of a long one.
    pairs = zip(found, expected, strict=False)
    return abs(len(found) - len(expected)) + sum(_segment_distance(one[:_MAX_SHOWN], other) for one, other in pairs)


@lru_cache(maxsize=4096)  # a suite's routes repeat a few words
def _segment_distance(found: str, expected: str) -> float:
    if found == expected or (found and is_param(expected)):
        return 0
    alike = SequenceMatcher(None, found, expected).quick_ratio() >= _ALIKE
    return 0.5 if alike else 1


def misses_of(request: WorldRequest, route: CompiledRoute) -> Iterator[RequestMiss]:
    """Every part of the request that the route does not take; `found` is None for what is not there."""
    if request.target.method != route.method:
        yield RequestMiss(part="method", expected=route.method, found=request.target.method)
    if path_distance(request.target.segments, path_segments(route.path)):
        yield RequestMiss(part="path", expected=route.path, found=request.target.path)
    if route.match:
        yield from _match_misses(request, route.match)


def _match_misses(request: WorldRequest, match: CompiledMatch) -> Iterator[RequestMiss]:
    for key, value in match.query:
        if (found := first_value(request.query, key)) != value:
            yield RequestMiss(part="query", name=key, expected=value, found=found)
    for header, content in match.headers:
        if (came := first_value(request.headers, header)) != content:
            shown = came.decode("latin-1") if came is not None else None
            name, expected = header.decode("latin-1"), content.decode("latin-1")
            yield RequestMiss(part="header", name=name, expected=expected, found=shown)
    if match.body is not ABSENT:
        unread = _unread(request)
        yield from (unread,) if unread else _json_misses(request.body, match.body, "")


def _unread(request: WorldRequest) -> RequestMiss | None:
    """Why a body was not looked at as JSON, where its content type is why: its parts are not missing."""
    if request.body is not ABSENT or not request.has_body or media_type_of(request.headers).is_json:
        return None
    came = first_value(request.headers, _CONTENT_TYPE)
    found = came.decode("latin-1") if came is not None else None
    return RequestMiss(part="header", name="content-type", expected="application/json", found=found)


def _json_misses(found: Json, expected: Json, pointer: str) -> Iterator[RequestMiss]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from _json_misses(found.get(key, ABSENT), value, f"{pointer}/{escape(key)}")
    elif not json_holds(found, expected):
        yield RequestMiss(part="json", name=pointer, expected=expected, found=_bounded(found))


def _bounded(found: Json) -> Json:
    if found is ABSENT:
        return None
    text = json.dumps(found, ensure_ascii=False)
    return found if len(text) <= _MAX_FOUND else text[:_MAX_SHOWN] + "…"


def _sentence(miss: RequestMiss, request: WorldRequest) -> str:
    if miss == _unread(request):
        why = "it has no content-type" if miss.found is None else f"its content-type is {_shown(miss.found)}"
        return f"the body was not read as JSON, because {why}; send the header content-type: application/json"
    if miss.part == "json" and request.body is ABSENT and request.has_body:
        return f"the body is no JSON that the lab can read, expected {_shown(miss.expected)}"
    if miss.part == "path" and miss.name and miss.found is None:
        why = "and nothing is there" if miss.expected == IN_STATE else f"which is not {_shown(miss.expected)}"
        return f"the path leads to {miss.name} in the state, {why}"
    where = {"json": "the JSON body", "header": "the header", "query": "the query"}.get(miss.part, f"the {miss.part}")
    if miss.name:
        where += f" {miss.name}"
    found = "missing" if miss.found is None else _shown(miss.found)
    return f"{where} is {found}, expected {_shown(miss.expected)}"


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
