"""The faults of a case; they are active only under the fault profile."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.record import Json, Record


class Toxic(Record):
    """A network fault, in toxiproxy's words."""

    type: Literal["latency", "bandwidth", "slow_close", "timeout", "reset_peer", "slicer", "limit_data"]
    attributes: dict[str, int] = Field(default_factory=dict)
    toxicity: float = 1.0
    """Only 1: toxiproxy ignores its seed, so nobody could repeat a fault that is there by chance."""
    stream: Literal["downstream", "upstream"] = "downstream"
    target: Literal["tools", "model"] = "tools"
    """Which of the attempt's connections it is on."""


class ResponseFault(Record):
    """A bad answer of one route: after `skip` good ones, `times` bad ones (absent: all the rest)."""

    route: str
    kind: Literal["status", "malformed-json", "truncated", "wrong-content-type", "empty", "timeout"]
    value: Json = None
    """status: the status (500); timeout: milliseconds (to the attempt's end); truncated: bytes that are sent (half)."""
    skip: Annotated[int, Field(ge=0)] = 0
    times: Annotated[int, Field(ge=1)] | None = None


class CaseFaults(Record):
    """Both kinds of faults of a case."""

    network: tuple[Toxic, ...] = ()
    responses: tuple[ResponseFault, ...] = ()
