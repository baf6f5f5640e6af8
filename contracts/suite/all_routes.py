"""The routes of a suite and of all its cases: what rules need that say what can never happen in any attempt."""

from __future__ import annotations

from contracts.suite.files import SuiteFiles
from contracts.suite.problems import Place
from contracts.suite.route import Route


def all_routes(files: SuiteFiles) -> list[tuple[Route, Place]] | None:
    """Every route with its place; None where nobody can tell them all, for then nothing is sure never to happen.

    Parts of a route may be broken: who reads them must ask.
    """
    if files.routes.is_unread or files.cases.is_unread:
        return None
    placed = [(route, files.routes.place(index)) for index, route in files.routes.items]
    for index, case in files.cases.having("routes"):
        here = files.cases.place(index) / "routes"
        if files.broken.is_lost(here):
            return None
        placed += [(route, here / number) for number, route in enumerate(case.routes)]
    return placed
