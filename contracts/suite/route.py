"""routes.json: what the fixture API answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contracts.record import Json, Record

Method = Annotated[str, Field(pattern=r"^[A-Z]+$")]
RoutePath = Annotated[str, Field(pattern=r"^/[^?#]*$")]


class Match(Record):
    """Parts of a request that must be there; each is a subset of what came."""

    query: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: Json = Field(default=None, alias="json")


class Response(Record):
    """One answer; at most one of `json`, `text`, `bytesBase64`."""

    status: Annotated[int, Field(ge=100, le=599)] = 200
    json_body: Json = Field(default=None, alias="json")
    text: str | None = None
    bytes_base64: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    delay_ms: Annotated[int, Field(ge=0)] = 0


class Effect(Record):
    """One JSON Patch operation (RFC 6902) on the attempt's state."""

    op: Annotated[str, Field(pattern=r"^(add|remove|replace|move|copy|test)$")]
    path: str
    from_path: str | None = Field(default=None, alias="from")
    value: Json = None


class Route(Record):
    """A route: which requests it takes and what it answers, in order, the last one repeating."""

    id: Annotated[str, Field(min_length=1)]
    method: Method
    path: RoutePath
    match: Match = Match()
    priority: int = 0
    responses: Annotated[tuple[Response, ...], Field(min_length=1)]
    effects: tuple[Effect, ...] = ()


class RoutesFile(Record):
    """routes.json."""

    routes: tuple[Route, ...]
