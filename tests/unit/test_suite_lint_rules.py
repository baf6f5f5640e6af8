"""Every rule of the lint has a row in a table of broken suites, and every record of a suite refuses unknown keys."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from contracts.errors import LabError
from contracts.suite import lint_patterns, wording
from contracts.suite.case import CasesFile
from contracts.suite.loading import load_suite
from contracts.suite.places import pointer_of
from contracts.suite.route import RoutesFile
from contracts.suite.scripted_model import ModelFile
from contracts.suite.tool import ToolsFile
from tests.fakes.lint_sites import lines_reached, sites
from tests.fakes.suite_changes import BrokenRule
from tests.fakes.suite_folder import CASE, ROUTE, RULE, TOOL, SuiteFolder
from tests.fakes.suite_problems import problems
from tests.unit.test_suite_lint_cases import CASES
from tests.unit.test_suite_lint_faults import FAULTS
from tests.unit.test_suite_lint_files import FILES
from tests.unit.test_suite_lint_routes import ROUTES
from tests.unit.test_suite_lint_sessions import SESSIONS
from tests.unit.test_suite_lint_settings import SETTINGS
from tests.unit.test_suite_lint_tools_and_models import TOOLS_AND_MODELS

ROWS: list[BrokenRule] = [*SETTINGS, *CASES, *FAULTS, *ROUTES, *TOOLS_AND_MODELS, *FILES, *SESSIONS]
NO_ROW = {
    "cannot be read: {error.strerror}": "no suite alone does that; test_suite_reading.py makes reading fail",
    "is no regular file": "no row can write a pipe; test_suite_reading.py makes one",
    'return f"no valid JSON: {error}"': "for words of pydantic's parser that are not known today",
    'message.removeprefix("Input should be ")': "for errors of pydantic that no record can have today",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[tuple[str, int]], str]:
    """The lines of the lint that the broken suites reach, and the texts of all their problems."""
    for remembering in ("re2_refusal", "_written_schema_refusal"):
        getattr(lint_patterns, remembering).cache_clear()
    reached: set[tuple[str, int]] = set()
    texts: list[str] = []
    for number, (_, change, _, _) in enumerate(ROWS):
        folder = SuiteFolder(tmp_path_factory.mktemp("rules") / str(number))
        change(folder)
        root = folder.write()

        def load(root: Path = root) -> None:
            with pytest.raises(LabError) as caught:
                load_suite(root)
            texts.extend(found.text for found in caught.value.found)

        reached |= lines_reached(load)
    return reached, "\n".join(texts)


def test_every_statement_that_makes_a_problem_is_reached_by_a_row(run: tuple[set[tuple[str, int]], str]) -> None:
    reached, _ = run
    missing = [
        f"contracts/suite/{site.file}:{site.first}: {site.source}"
        for site in sites()
        if not any((site.file, line) in reached for line in range(site.first, site.last + 1))
        and not any(part in site.source for part in NO_ROW)
    ]
    assert missing == [], (
        "these rules of the lint have no broken suite: add a row to a table of tests/unit/test_suite_lint_*.py that "
        "breaks each of them and no other (a new table must be in ROWS of this file), and a line to docs/lint.md"
    )


def test_every_exemption_is_of_a_statement_that_is_there() -> None:
    assert [part for part in NO_ROW if not any(part in site.source for site in sites())] == []


@pytest.mark.parametrize("table", ["_EXPECTED_TYPES", "_EXPECTED_PATTERNS", "_BOUNDS", "_SIZES"])
def test_every_word_for_a_wrong_shape_is_said_by_a_row(run: tuple[set[tuple[str, int]], str], table: str) -> None:
    _, texts = run
    words = {text.partition("{")[0] for text in getattr(wording, table).values()}
    assert sorted(one for one in words if f"expected {one}" not in texts and f" or {one}" not in texts) == []


def test_every_row_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(name for name, *_ in ROWS).items() if count > 1] == []


FULL_CASE: dict[str, Any] = {
    **CASE,
    "input": [{"role": "user", "content": "hello"}],
    "limits": {"seconds": 3},
    "routes": [{**ROUTE, "id": "own"}],
    "faults": {
        "network": [{"type": "timeout"}],
        "responses": [{"route": "own", "kind": "empty"}],
    },
    "expect": {
        "toolCalls": [{"name": "lookup_order"}],
        "state": [{"pointer": "/a", "equals": 1}],
        "assertions": [{"type": "contains", "value": "x"}],
    },
}
FULL_ROUTE: dict[str, Any] = {
    **ROUTE,
    "match": {"query": {"a": "b"}},
    "effects": [{"op": "remove", "path": "/a"}],
}
FULL_RULES: list[dict[str, Any]] = [
    {"when": {"turn": 1}, "reply": {"toolCalls": [{"name": "lookup_order"}], "usage": {"inputTokens": 1}}},
    {"when": {"turn": 2}, "reply": {"error": {"status": 500}}},
    RULE,
]
FULL: list[tuple[str, type[BaseModel], dict[str, Any]]] = [
    ("cases.json", CasesFile, {"cases": [FULL_CASE]}),
    ("routes.json", RoutesFile, {"routes": [FULL_ROUTE]}),
    ("tools.json", ToolsFile, {"tools": [TOOL]}),
    ("models/support.json", ModelFile, {"rules": FULL_RULES}),
]


def records_in(model: type[BaseModel], value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all objects in a document that a record describes."""
    if isinstance(value, dict) and wording._model_at(model, path):
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in members:
        yield from records_in(model, one, (*path, name))


OBJECTS = [(name, document, path) for name, model, document in FULL for path in records_in(model, document)]


@pytest.mark.parametrize(
    ("name", "document", "path"),
    [pytest.param(*one, id=f"{one[0]} {pointer_of(one[2])}") for one in OBJECTS],
)
def test_every_object_of_a_suite_refuses_a_key_that_it_has_not(
    tmp_path: Path, name: str, document: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    folder = SuiteFolder(tmp_path / "desk", cases=[copy.deepcopy(FULL_CASE)], routes=[FULL_ROUTE], rules=FULL_RULES)
    assert load_suite(folder.write())
    changed = copy.deepcopy(document)
    place: Any = changed
    for part in path:
        place = place[part]
    place["zzzz"] = 1
    folder.texts[name] = json.dumps(changed)
    (problem,) = problems(folder)
    assert problem.startswith(f'desk/{name} {pointer_of((*path, "zzzz"))} (line 1): unknown key "zzzz"; known: ')


def records_below(annotation: Any) -> set[type[BaseModel]]:
    """The annotated record and all that are in it."""
    found: set[type[BaseModel]] = set()
    for option in wording._options(annotation):
        if isinstance(option, type) and issubclass(option, BaseModel):
            fields = option.model_fields.values()
            found |= {option}.union(*(records_below(field.annotation) for field in fields))
        else:
            found = found.union(*(records_below(one) for one in get_args(option)))
    return found


def test_the_objects_are_of_all_records_that_the_files_have() -> None:
    models = {name: model for name, model, _ in FULL}
    shown = {wording._model_at(models[name], path) for name, _, path in OBJECTS}
    missing = set[Any]().union(*(records_below(model) for model in models.values())) - shown
    assert missing == set(), "put one of each into FULL of this file"
