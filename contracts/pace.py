"""What the driver says to the runner about its pace, by a line on its stdin: begin nothing further, or go on."""

from __future__ import annotations

from typing import Literal

from contracts.record import Record


class Pace(Record):
    """Whether attempts may begin. Those under way go on, and so does everything that they need of the driver."""

    type: Literal["pace"] = "pace"
    hold: bool
    """True: no further attempt begins, until a line says otherwise."""


PACE_MARK = b'{"type":"pace"'
"""How the line begins: the runner tells it from answers about containers without parsing those."""
