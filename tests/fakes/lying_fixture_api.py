"""A fixture API that lies: it tells another color, keeps payments out of its journal, and serves no planned fault."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from contracts.control import AttemptOpening, ServedRequest
from contracts.record import Json
from fixture_api import __main__ as program
from fixture_api import attempt, faults, journal, templates

_render = templates._StateReference.render


def _blue(reference: templates._StateReference, context: templates.Context) -> Json:
    value = _render(reference, context)
    return {**value, "color": "blue"} if isinstance(value, dict) and "color" in value else value


def _without_payments(rows: list[journal.Served], *, opening: AttemptOpening) -> Iterator[ServedRequest]:
    yield from journal.records([row for row in rows if row.target.method != "POST"], opening=opening)


def _no_fault(plan: faults.Faults, route_id: str) -> None:
    return None


if __name__ == "__main__":
    templates._StateReference.render = _blue  # type: ignore[method-assign,assignment]
    attempt.records = _without_payments  # type: ignore[attr-defined]
    faults.Faults.due = _no_fault  # type: ignore[method-assign,assignment]
    sys.exit(program.main(sys.argv[1:]))
