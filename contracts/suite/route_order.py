"""The order of preference of routes, and which two of them match equally well.

A request may fit several routes. The one with the higher `priority` takes it. Of equal priority, the one whose path is
more literal does: the paths are compared segment by segment from the left, and at the first segment where one has a
literal and the other a `{param}`, the literal one wins. Of equally literal paths, the one with more match parts does:
each query key, each header and each leaf of the JSON pattern is one part. A query key or header that a request repeats
is matched by its first value; a JSON object in a pattern is a subset of what comes, a list or scalar equals it. Two
routes that are equal in all of this and could both take one request are refused by lint, so no request ever depends on
the order in which routes are written. A case's own routes are tried before the suite's, by the same rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from contracts.record import Json
from contracts.suite.route import Match, Route

RouteKey = tuple[int, tuple[bool, ...], int]


def path_segments(path: str) -> tuple[str, ...]:
    """The segments of a route's path, without the leading slash; `/` has one empty segment."""
    return tuple(path[1:].split("/"))


def is_param(segment: str) -> bool:
    """True for `{name}`: a segment that takes any one non-empty segment."""
    return segment.startswith("{") and segment.endswith("}")


def order_key(route: Route) -> RouteKey:
    """Sorts routes by preference, the most preferred first."""
    segments = tuple(is_param(segment) for segment in path_segments(route.path))
    return (-route.priority, segments, -match_parts(route.match))


def match_parts(match: Match) -> int:
    """How many parts of a request the match looks at."""
    return len(match.query) + len(match.headers) + (_leaves(match.json_body) if has_json(match) else 0)


def has_json(match: Match) -> bool:
    """True when the match has a JSON pattern, `null` included."""
    return "json_body" in match.model_fields_set


def equally_good(routes: Iterable[tuple[int, Route]]) -> Iterator[tuple[int, int]]:
    """The pairs of numbered routes that have the same key and could both take one request."""
    alike: dict[object, list[tuple[int, Route]]] = defaultdict(list)
    for number, route in routes:
        # With equal keys the params stand in the same places, so the literals must be equal to meet in one request.
        shape = tuple(None if is_param(segment) else segment for segment in path_segments(route.path))
        alike[(route.method, shape, route.priority, match_parts(route.match))].append((number, route))
    for group in alike.values():
        for position, (number, route) in enumerate(group):
            for other_number, other in group[position + 1 :]:
                if _can_meet(route.match, other.match):
                    yield number, other_number


def _can_meet(one: Match, other: Match) -> bool:
    """True when some request fits both matches."""
    return (
        _agree(one.query, other.query)
        and _agree(_folded(one.headers), _folded(other.headers))
        and not (has_json(one) and has_json(other) and not _compatible(one.json_body, other.json_body))
    )


def _agree(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(other[name] == value for name, value in one.items() if name in other)


def _folded(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _compatible(one: Json, other: Json) -> bool:
    """True when some JSON value has both patterns as a subset."""
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_compatible(value, other[key]) for key, value in one.items() if key in other)
    return same_json(one, other)


def same_json(one: Json, other: Json) -> bool:
    """Equality of JSON values: 1 equals 1.0, and neither equals true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same_json(left, right) for left, right in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _leaves(pattern: Json) -> int:
    if isinstance(pattern, dict) and pattern:
        return sum(_leaves(value) for value in pattern.values())
    return 1
