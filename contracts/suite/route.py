"""routes.json: what the fixture API answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.record import Json, Record

Method = Annotated[str, Field(pattern=r"^[A-Z]+$")]
RoutePath = Annotated[str, Field(pattern=r"^/[^?#]*$")]
WITHOUT_BODY = frozenset({204, 205, 304})
"""Statuses whose answers have no body."""


class Match(Record):
    """Parts of a request that must be there; each is a subset of what came."""

    query: dict[str, str] = Field(default_factory=dict)
    """Keys and the values they must have; others may be there."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Names, whatever their case, and the values they must have."""
    json_body: Json = Field(default=None, alias="json")
    """Of objects a subset must be there; lists and scalars must be equal."""


class Response(Record):
    """One answer; at most one of `json`, `text`, `bytesBase64`."""

    status: Annotated[int, Field(ge=200, le=599)] = 200
    """Final: 1xx are no answers."""
    json_body: Json = Field(default=None, alias="json")
    """May hold {"$state": "/pointer/{param}"} and {"$request": "/path/NAME"}, "/query/NAME" or "/json/…"."""
    text: str | None = None
    bytes_base64: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    delay_ms: Annotated[int, Field(ge=0, le=86_400_000)] = 0
    """Waited before the answer, in milliseconds."""


class Effect(Record):
    """One JSON Patch operation (RFC 6902) on the attempt's state."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    """A JSON pointer into the state; {param} is expanded from the path of the route."""
    from_path: str | None = Field(default=None, alias="from")
    value: Json = None


class Route(Record):
    """A route: which requests it takes and what it answers, in order, the last one repeating."""

    id: Annotated[str, Field(min_length=1)]
    method: Method
    path: RoutePath
    """Segments may be {param}."""
    match: Match = Match()
    priority: int = 0
    """The higher one is preferred."""
    responses: Annotated[tuple[Response, ...], Field(min_length=1)]
    """In order, the last one repeating."""
    effects: tuple[Effect, ...] = ()
    """Applied to the attempt's state in order."""


class RoutesFile(Record):
    """routes.json."""

    routes: tuple[Route, ...]
