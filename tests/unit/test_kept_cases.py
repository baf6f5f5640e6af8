"""Cases are kept as JSON and made when they are looked at; how they were read makes no difference."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from contracts.record import Json
from contracts.suite.case import Case, CasesFile
from contracts.suite.cases_reading import read_cases
from contracts.suite.digests import case_digest
from contracts.suite.kept_cases import KeptCases
from contracts.suite.loading import load_suite
from scripts.trivial_suite import write_trivial_suite
from tests.fakes.session_folder import session, write_sessions
from tests.fakes.suite_folder import CASE

SAMPLE = Path(__file__).resolve().parent.parent.parent / "fixtures"
ONE = json.dumps(CASE)
DIGEST_BYTES = 32
MOST_BYTES_KEPT = 500


def _texts() -> list[str]:
    sample = (SAMPLE / "cases.json").read_text()
    told = {
        **CASE,
        "id": "b",
        "title": "Größe \U0001f600",
        "protected": True,
        "input": [{"role": "user", "content": "“"}],
    }
    return [
        sample,
        json.dumps({"cases": [CASE, told], "revision": None}, indent=2, ensure_ascii=False),
        f'{{"cases":[{ONE}]}}',
    ]


@pytest.mark.parametrize("text", _texts())
def test_a_file_read_case_by_case_has_the_cases_and_digests_of_the_whole(text: str) -> None:
    read = read_cases(text)
    assert read is not None
    whole, written = CasesFile.model_validate_json(text), json.loads(text)
    assert sorted(read.cases, key=lambda case: case.id) == sorted(whole.cases, key=lambda case: case.id)
    assert [case.protected for case in read.cases] == sorted((case.protected for case in whole.cases), reverse=True)
    assert [*read.cases.as_written()] == written["cases"]
    assert read.head == {key: value for key, value in written.items() if key != "cases"}
    assert dict(read.digests) == {one["id"]: case_digest(one) for one in written["cases"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"cases": []}',
        '{"cases": {}}',
        f'{{"cases": [{ONE}]',
        f'{{"cases": [{ONE},]}}',
        f'{{"cases": [{ONE}]}} x',
        f'{{"cases": [{ONE}], "cases": [{ONE}]}}',
        f'{{"cases": [{ONE}, {ONE}]}}',
        f'{{"cases": [{ONE}], "x": 1}}',
        f'{{"cases": [{ONE}], "revision": 1}}',
        f'{{"cases": [{ONE}], 5: 1}}',
        f'{{"cases": [{ONE} {ONE}]}}',
        f'{{"cases": [{ONE[:-1]}, "id": "b"}}]}}',
        f'{{"cases": [{ONE[:-1]}, "state": {{"n": NaN}}}}]}}',
        f'{{"cases": [{ONE[:-1]}, "state": {{"n": 9007199254740993}}}}]}}',
        f'{{"cases": [{ONE[:-1]}, "title": "\\ud800"}}]}}',
        f'{{"cases": [{ONE[:-1]}, "titel": ""}}]}}',
        '{"cases": [' + "[" * 100_000 + "]}",
    ],
)
def test_whatever_is_wrong_or_unusual_is_left_to_the_reading_of_the_whole(text: str) -> None:
    assert read_cases(text) is None


def test_sessions_are_kept_with_their_names_and_titles(tmp_path: Path) -> None:
    names = ["Größe", "UPPER", "a b"]
    suite = load_suite(write_sessions(tmp_path / "evals", {name: session(title=None) for name in names}))
    assert suite.cases.ids() == [case.id for case in suite.cases] == sorted(names)
    assert suite.case("a b") == suite.cases[2]


def test_what_few_cases_have_is_found_without_the_others() -> None:
    texts: dict[str, dict[str, Json]] = {
        "plain": {},
        "state": {"state": {}},
        "routes": {"routes": [{"id": "r", "method": "GET", "path": "/a", "responses": [{}]}]},
        "faults": {"faults": {"responses": [{"route": "r", "kind": "empty"}]}},
        "setup": {"setup": "true"},
        "working_dir": {"working_dir": "x"},
        "image": {"image": "x"},
        "relevance": {"expect": {"relevance": ["is polite"]}},
    }
    made = [Case.model_validate_json(json.dumps({**CASE, **told, "id": key})) for key, told in texts.items()]
    cases = KeptCases.of(made)
    for key in list(texts)[1:]:
        assert [case.id for case in cases.having(key)] == [key]
        assert [index for index, _ in cases.placed().having(key)] == [list(texts).index(key)]
    assert [case.id for case in cases.having("image", "state")] == ["state", "image"]
    assert [*cases.only(["image", "plain", "nobody"])] == [made[0], made[6]]
    assert [*cases[1:3]] == made[1:3]
    assert cases.by_id == {case.id: case for case in made}


def _traced(folder: Path) -> tuple[int, int]:
    """The bytes that loading a suite leaves, and those that it took at most."""
    tracemalloc.start()
    try:
        suite = load_suite(folder)
        traced = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(suite.cases)
    return traced


def test_one_more_case_takes_little_more_than_its_text(tmp_path: Path) -> None:
    few, many = (write_trivial_suite(tmp_path / f"{cases}", cases=cases) for cases in (200, 1200))
    load_suite(few)
    (kept_few, most_few), (kept_many, most_many) = _traced(few), _traced(many)
    assert (kept_many - kept_few) / 1000 < MOST_BYTES_KEPT
    assert (most_many - most_few) / 1000 < 3 * MOST_BYTES_KEPT
