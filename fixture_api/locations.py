"""What a method and a path mean in a suite, whatever else a request has: worked out once and remembered."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from fixture_api.paths import Entry
from fixture_api.request import Target, read_target
from fixture_api.routing import CompiledRoute, RouteTable
from fixture_api.tool_calls import BoundCall, ToolTable

_REMEMBERED = 4096
_LONGEST_REMEMBERED = 256
"""Bytes; so the longest paths that a hostile agent can send do not fill the memory."""


class Location(NamedTuple):
    """A method and a path with all that they lead to."""

    target: Target
    routes: list[Entry[CompiledRoute]]
    """The suite's routes whose method and path fit, most preferred first."""
    call: BoundCall | None
    """The tool that is bound to them."""


class Locations:
    """The locations of one suite; attempts of all cases share them, for they hold nothing of any attempt."""

    def __init__(self, routes: RouteTable, tools: ToolTable) -> None:
        self._routes = routes
        self.tools = tools
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._at)

    def at(self, method: str, raw_path: bytes) -> Location:
        """The location of a path as it came over the wire, without prefix."""
        if len(raw_path) > _LONGEST_REMEMBERED:
            return self._at(method, raw_path)
        return self._remembered(method, raw_path)

    def _at(self, method: str, raw_path: bytes) -> Location:
        target = read_target(method, raw_path)
        return Location(target, self._routes.fitting(method, target.segments), self.tools.at(method, target.segments))
