"""The faults of a case; they are active only under the fault profile."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.record import Json, Record


class Toxic(Record):
    """A network fault, in toxiproxy's words."""

    type: Literal["latency", "bandwidth", "slow_close", "timeout", "reset_peer", "slicer", "limit_data"]
    attributes: dict[str, int] = Field(default_factory=dict)
    stream: Literal["downstream", "upstream"] = "downstream"
    target: Literal["tools", "model"] = "tools"


class ResponseFault(Record):
    """A bad answer of one route: after `skip` good ones, `times` bad ones (absent: all the rest)."""

    route: str
    kind: Literal["status", "malformed-json", "truncated", "wrong-content-type", "empty", "timeout"]
    value: Json = None
    skip: Annotated[int, Field(ge=0)] = 0
    times: Annotated[int, Field(ge=1)] | None = None


class CaseFaults(Record):
    """Both kinds of faults of a case."""

    network: tuple[Toxic, ...] = ()
    responses: tuple[ResponseFault, ...] = ()
