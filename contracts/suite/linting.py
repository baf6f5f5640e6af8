"""All rules that a suite must keep, beyond the shape of its files."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.suite.files import Listed, SuiteFiles
from contracts.suite.lint_bindings import lint_bindings
from contracts.suite.lint_cases import lint_cases
from contracts.suite.lint_models import lint_models
from contracts.suite.lint_names import by_form, names_written, shared_names
from contracts.suite.lint_routes import lint_routes
from contracts.suite.lint_settings import lint_settings
from contracts.suite.lint_state import lint_state
from contracts.suite.lint_tools import lint_tools
from contracts.suite.problems import Problem
from contracts.suite.route import Route


def lint(files: SuiteFiles, *, judges: bool) -> Iterator[Problem]:
    """Everything that is wrong with the suite, file by file; `judges` as for `load_suite`.

    Of what has the wrong shape nothing is told that may only follow from that.
    """
    return files.broken.without_consequences(_lint(files, judges=judges))


def _lint(files: SuiteFiles, *, judges: bool) -> Iterator[Problem]:
    tools = files.tools.names("function", "name") if files.tools.document is not None else None
    yield from lint_settings(files)
    yield from lint_cases(files, tools=tools, judges=judges)
    yield from _lint_suite_routes(files.routes)
    yield from lint_state(files)
    yield from lint_tools(files, judges=judges)
    yield from lint_bindings(files)
    models = ((name, one.place()) for name, one in files.models.items())
    yield from shared_names("model", models, taken=by_form(files.unread_models))
    yield from lint_models(files, tools=tools)


def _lint_suite_routes(routes: Listed[Route]) -> Iterator[Problem]:
    if routes.document is None:
        return
    named = names_written(routes.written(), "id")
    yield from shared_names("route id", ((name, routes.place(index) / "id") for index, name in named))
    yield from lint_routes(routes.items, routes.document.place(routes.key))
