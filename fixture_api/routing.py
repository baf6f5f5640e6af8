"""Routes compiled once per suite, and the one that answers a request."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from contracts.record import Json
from contracts.suite.route import Match, Route
from contracts.suite.route_order import has_json, order_key, same_json
from fixture_api.answers import CompiledResponse, compile_response
from fixture_api.effects import CompiledEffect, compile_effect
from fixture_api.paths import Entry, PathTable, PathTemplate
from fixture_api.request import ABSENT, WorldRequest

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, eq=False)
class CompiledMatch:
    """The parts of a request that must be there, beside method and path."""

    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[bytes, bytes], ...]
    """Lower-case names."""
    body: Json
    """A JSON value of which the body must hold everything; ABSENT: any body."""
    texts: ItemsView[str, str] | None
    """The members of `body` where all of them are strings: the usual case, and much quicker to look for."""

    def holds(self, request: WorldRequest) -> bool:
        """True when the request has all of them; of a repeated key or header, its first value counts."""
        if self.texts is not None:
            if not (isinstance(request.body, dict) and self.texts <= request.body.items()):
                return False
        elif self.body is not ABSENT and not json_holds(request.body, self.body):
            return False
        if self.query and not all(first_value(request.query, name) == value for name, value in self.query):
            return False
        return not self.headers or all(first_value(request.headers, name) == value for name, value in self.headers)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledRoute:
    """A route ready to answer; compared by identity, because counters belong to the route and not to its id."""

    route_id: str
    method: str
    path: str
    match: CompiledMatch | None
    """None: method and path are enough."""
    responses: tuple[CompiledResponse, ...]
    effects: tuple[CompiledEffect, ...]


class FoundRoute(NamedTuple):
    """The route that answers."""

    route: CompiledRoute
    template: PathTemplate

    def params_of(self, request: WorldRequest) -> dict[str, str]:
        """The values of the path's parameters."""
        return {name: request.target.segments[place] for place, name in self.template.params}


class RouteTable:
    """Routes in their order of preference."""

    def __init__(self, routes: Iterable[CompiledRoute]) -> None:
        self.routes = tuple(routes)
        self._paths = PathTable((route.method, route.path, route) for route in self.routes)
        self._methods = {route.method for route in self.routes}

    def fitting(self, method: str, segments: list[str]) -> list[Entry[CompiledRoute]]:
        """The routes whose method and path fit, most preferred first."""
        return self._paths.fitting(method, segments)

    def methods_at(self, segments: list[str]) -> set[str]:
        """The methods of the routes whose path fits."""
        return {method for method in self._methods if self._paths.fitting(method, segments)}


def first_holding(entries: list[Entry[CompiledRoute]], request: WorldRequest) -> FoundRoute | None:
    """The first of the routes whose every other part fits as well."""
    for entry in entries:
        match = entry.value.match
        if match is None or match.holds(request):
            return FoundRoute(entry.value, entry.template)
    return None


def first_value(pairs: list[tuple[K, V]], key: K) -> V | None:
    """The first value of a key that may be repeated; None without the key."""
    for name, value in pairs:
        if name == key:
            return value
    return None


def json_holds(found: Json, expected: Json) -> bool:
    """True when `found` has every member of `expected`'s objects; lists and scalars are equal, and true is not 1."""
    if not isinstance(expected, dict):
        return same_json(found, expected)
    if not isinstance(found, dict):
        return False
    return all(key in found and json_holds(found[key], value) for key, value in expected.items())


def compile_route(route: Route) -> CompiledRoute:
    """The route ready to answer; raises ValueError for what HTTP cannot carry or a reference that is no pointer."""
    return CompiledRoute(
        route_id=route.id,
        method=route.method,
        path=route.path,
        match=_compile_match(route.match),
        responses=tuple(compile_response(response) for response in route.responses),
        effects=tuple(compile_effect(effect) for effect in route.effects),
    )


def compile_routes(routes: Iterable[Route]) -> RouteTable:
    """The table of routes; raises ValueError as `compile_route` does."""
    return RouteTable(compile_route(route) for route in sorted(routes, key=order_key))


def _compile_match(match: Match) -> CompiledMatch | None:
    if not (match.query or match.headers or has_json(match)):
        return None
    body: Json = match.json_body if has_json(match) else ABSENT
    has_only_texts = isinstance(body, dict) and all(isinstance(value, str) for value in body.values())
    return CompiledMatch(
        query=tuple(match.query.items()),
        headers=tuple(
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in match.headers.items()
        ),
        body=body,
        texts=body.items() if has_only_texts else None,
    )
