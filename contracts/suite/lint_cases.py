"""The rules of cases.json, but for what is expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.files import SuiteFiles
from contracts.suite.lint_expect import lint_expect
from contracts.suite.lint_faults import Met, PlacedRoute, lint_faults
from contracts.suite.lint_names import all_names, by_form, names_written, shared_names
from contracts.suite.lint_routes import lint_routes
from contracts.suite.lint_sessions import lint_sessions
from contracts.suite.lint_working_dirs import working_dir_refusal
from contracts.suite.problems import Place, Problem


def lint_cases(files: SuiteFiles, *, tools: Collection[str] | None, judges: bool) -> Iterator[Problem]:
    """Everything that is wrong with the cases; `tools` are the known ones, None where no tools.json names them."""
    cases = files.cases
    yield from shared_names("case id", _named(files))
    yield from lint_sessions(files, judges=judges)
    if cases.document is None:
        return
    yield from _lint_revision(files, cases.document.value)
    taken = by_form(name for _, name in names_written(files.routes.written(), "id"))
    routes = _by_id((route, files.routes.place(index)) for index, route in files.routes.items)
    for index, case in cases.items:
        place = cases.place(index)
        yield from lint_expect(case.expect, place / "expect", tools=tools, judges=judges)
        if case.routes or case.faults or case.working_dir is not None:
            yield from _lint_world(files, case, place, taken=taken, routes=routes)


def _named(files: SuiteFiles) -> Iterator[tuple[str, Place]]:
    """The case ids, one by one: there may be many."""
    cases = files.cases
    yield from ((name, cases.place(index) / "id") for index, name in names_written(cases.written(), "id"))
    yield from ((source.case.id, source.document.place()) for source in files.sessions.sources)


def _lint_revision(files: SuiteFiles, written: Json) -> Iterator[Problem]:
    revision = written.get("revision") if isinstance(written, dict) else None
    if not isinstance(revision, str) or revision == files.settings.revision or files.cases.document is None:
        return
    if files.are_settings_unread:
        return
    suite = f'the suite\'s is "{files.settings.revision}"' if files.settings.revision else "suite.toml names none"
    place = files.cases.document.place("revision")
    yield Problem(
        f'the revision "{revision}" is not the suite\'s: {suite}', place, reads=(place, files.setting("revision"))
    )


def _lint_world(
    files: SuiteFiles, case: Case, place: Place, *, taken: Mapping[str, str], routes: Mapping[str, PlacedRoute]
) -> Iterator[Problem]:
    here = place / "routes"
    own = {} if files.broken.is_lost(here) else place.value().get("routes", [])
    if case.routes:
        named = ((name, here / index / "id") for index, name in names_written(own, "id"))
        yield from shared_names("route id", named, taken=taken)
        yield from lint_routes(enumerate(case.routes), here)
    if case.faults:
        known, own_names = files.routes.names("id"), None if files.broken.is_lost(here) else all_names(own, "id")
        known = None if known is None or own_names is None else known | own_names
        own_routes = _by_id((route, here / index) for index, route in enumerate(case.routes))
        met = Met(names=known, routes={**routes, **own_routes}, broken=files.broken)
        yield from lint_faults(case.faults, place / "faults", met)
    if case.working_dir is not None and (why := working_dir_refusal(files.folder, case.working_dir)):
        yield Problem(why, place / "working_dir")


def _by_id(placed: Iterable[PlacedRoute]) -> dict[str, PlacedRoute]:
    """The routes by their ids, without those that share one: nobody can tell which of them is meant."""
    placed = list(placed)
    count = Counter(route.id for route, _ in placed)
    return {one[0].id: one for one in placed if count[one[0].id] == 1}
