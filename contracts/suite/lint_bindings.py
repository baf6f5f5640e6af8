"""The rule that some route answers each bound tool, with the right arguments at least."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contracts.suite.all_routes import all_routes
from contracts.suite.files import SuiteFiles
from contracts.suite.lint_routes import lint_target
from contracts.suite.problems import Place, Problem, nearest
from contracts.suite.route import Route
from contracts.suite.route_order import is_param, path_segments
from contracts.suite.tool import ToolHttp

_READ = ("toolCalls", "neverTools", "deniedTools", "unmatchedRequests")


class _Wanted(NamedTuple):
    """The names of the tools that cases expect to be called, and of those that they forbid."""

    expected: set[str]
    forbidden: set[str]


def lint_bindings(files: SuiteFiles) -> Iterator[Problem]:
    """A problem for each tool whose method and path no route of the suite or of a case can ever have.

    Only where a case that fails by such a request expects its call, or where some route is nearly what it asks and no
    case forbids it: a tool that nothing answers may be there to tempt, or for talks in which nobody calls it.
    """
    routes = _answering(files)
    if routes is None:
        return
    unanswered = [
        (index, tool.name, tool.http)
        for index, tool in files.tools.items
        if tool.http is not None and not any(_answers(route, tool.http) for route in routes)
    ]
    wanted = _wanted(files) if unanswered else None  # which looks at every case
    if wanted is None:
        return
    known = {f"{route.method} {route.path}" for route in routes}
    for index, name, http in unanswered:
        place = files.tools.place(index) / "http"
        asked = f"{http.method} {http.path}"
        near = None if name in wanted.forbidden else nearest(asked, known)
        if (near is None and name not in wanted.expected) or any(lint_target(http.method, http.path, place)):
            continue
        text = f'no route of the suite or of a case can answer "{asked}"' + (
            f'; did you mean "{near}"?' if near else ""
        )
        yield Problem(text, place, reads=(place / "method", place / "path"))


def _answering(files: SuiteFiles) -> list[Route] | None:
    """All routes; None where one of them is not to be told, or cannot be asked as it is."""
    placed = all_routes(files)
    if placed is None or any(_is_unsure(files, route, place) for route, place in placed):
        return None
    return [route for route, _ in placed]


def _is_unsure(files: SuiteFiles, route: Route, place: Place) -> bool:
    is_doubtful = files.broken.is_doubtful(place / "method", place / "path")
    return is_doubtful or any(lint_target(route.method, route.path, place))


def _wanted(files: SuiteFiles) -> _Wanted | None:
    """None where it cannot be told."""
    wanted = _Wanted(set(), set())
    for index, case in files.cases.items:
        here = files.cases.place(index) / "expect"
        if files.broken.is_doubtful(*(here / key for key in _READ)):
            return None
        wanted.forbidden.update((*case.expect.never_tools, *case.expect.denied_tools))
        if case.expect.unmatched_requests == "fail":  # then a case that expects the call can never pass
            wanted.expected.update(call.name for call in case.expect.tool_calls or ())
    return wanted


def _answers(route: Route, asked: ToolHttp) -> bool:
    """True when some request of the tool has the route's method and path; a parameter may be anything."""
    methods = {route.method, "OPTIONS"} | ({"HEAD"} if route.method == "GET" else set())
    own, other = path_segments(route.path), path_segments(asked.path)
    fits = len(own) == len(other) and all(
        one == two or is_param(one) or is_param(two) for one, two in zip(own, other, strict=True)
    )
    return fits and asked.method in methods
