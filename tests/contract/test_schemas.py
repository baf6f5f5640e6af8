"""The committed JSON Schemas are those of the records, and agree with what loading takes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from contracts.suite.loading import load_suite
from scripts.generate_schemas import TARGET, schema_texts
from scripts.trivial_suite import write_trivial_suite
from tests.fakes.control_suites import CASES, CHAT_CASES, write_controls
from tests.fakes.session_folder import said, session
from tests.fakes.suite_changes import Change
from tests.fakes.suite_folder import SuiteFolder
from tests.unit.test_suite_lint_allowed import ALLOWED

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "fixtures"
RIGHT: tuple[str, Change] = ("a suite as it is", lambda _folder: None)
KINDS = {
    "suite": ["suite.toml"],
    "cases": ["cases.json"],
    "routes": ["routes.json"],
    "tools": ["tools.json"],
    "model": sorted(f"models/{path.name}" for path in (SAMPLE / "models").glob("*.json")),
}


def schema(kind: str) -> dict[str, Any]:
    committed: dict[str, Any] = json.loads((TARGET / f"{kind}.schema.json").read_text())
    return committed


def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(schema(kind))


def written(name: str) -> Any:
    text = (SAMPLE / name).read_text()
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)


def test_the_committed_schemas_are_current() -> None:
    assert {path.name: path.read_text() for path in TARGET.iterdir()} == schema_texts()


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_a_draft_2020_12_schema_with_title_and_description_and_no_id(kind: str) -> None:
    committed = schema(kind)
    Draft202012Validator.check_schema(committed)
    assert committed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert committed["title"]
    assert committed["description"]
    assert '"$id"' not in json.dumps(committed)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in KINDS.items() for name in names])
def test_the_sample_suite_is_valid(kind: str, name: str) -> None:
    assert [error.message for error in validator(kind).iter_errors(written(name))] == []


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in [*ALLOWED, RIGHT]])
def test_every_right_suite_of_the_lint_tests_is_valid_for_an_editor_too(tmp_path: Path, change: Change) -> None:
    folder = SuiteFolder(tmp_path / "desk")
    change(folder)
    assert_valid_files(folder.write())


def test_the_suites_of_controls_and_benches_are_valid_for_an_editor_too(tmp_path: Path) -> None:
    assert_valid_files(write_controls(tmp_path / "controls", [*CASES, *CHAT_CASES]))
    assert_valid_files(write_trivial_suite(tmp_path / "trivial", cases=2))


def assert_valid_files(root: Path) -> None:
    for path in [*root.glob("*.toml"), *root.glob("*.json"), *root.glob("models/*.json")]:
        kind = "model" if path.parent.name == "models" else path.stem
        text = path.read_text()
        value = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        errors = [] if kind == "state" else list(validator(kind).iter_errors(value))
        assert [error.message for error in errors] == [], path


@pytest.mark.parametrize("kind", KINDS)
def test_no_object_of_a_record_takes_an_unknown_key(kind: str) -> None:
    whole = schema(kind)
    objects = {"the file": whole, **whole.get("$defs", {})}
    assert [name for name, one in objects.items() if one["type"] == "object" and one["additionalProperties"]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_editor_is_told_of_an_unknown_key(kind: str) -> None:
    value = {**written(KINDS[kind][0]), "zzzz": 1}
    assert [error.validator for error in validator(kind).iter_errors(value)] == ["additionalProperties"]


def test_an_editor_takes_sessions_as_loading_does() -> None:
    right = [session(), session(said("user", "a"), size="S", relevance=["b"]) | {"zzzz": 1}, {"evals": None}]
    below = session({"sub_session": session(said("assistant", "", tools=("a",)))})
    assert [error.message for one in [*right, below] for error in validator("session").iter_errors(one)] == []
    wrong = [session(zzzz=1), session(size="XS"), [session()], session(assertions=[{"type": "contains"}])]
    found = [[error.validator for error in validator("session").iter_errors(one)] for one in wrong]
    assert found == [["anyOf"], ["anyOf"], ["type"], ["anyOf"]]


def test_the_readme_leads_to_the_schemas_and_to_their_use() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "(contracts/schemas/)" in readme
    assert "(docs/lint.md#in-an-editor)" in readme
    page = (ROOT / "docs" / "lint.md").read_text()
    of_a_suite = schema_texts().keys() - {"comparison.schema.json"}  # nobody writes a comparison by hand
    assert [name for name in of_a_suite if f"./contracts/schemas/{name}" not in page] == []
    assert "contracts/schemas/comparison.schema.json" in (ROOT / "docs" / "comparison.md").read_text()


def test_the_sample_suite_loads() -> None:
    assert load_suite(SAMPLE).cases


@pytest.mark.parametrize(
    ("kind", "value", "place"),
    [
        ("cases", {"cases": [{"id": "a", "input": "b", "expect": {}, "expekt": {}}]}, "$.cases[0]"),
        ("cases", {"cases": [{"id": "a", "input": "b"}]}, "$.cases[0]"),
        ("cases", {"cases": [{"id": "A", "input": "b", "expect": {}}]}, "$.cases[0].id"),
        ("cases", {"cases": [{"id": "a", "input": "b", "expect": {"tool_calls": []}}]}, "$.cases[0].expect"),
        (
            "cases",
            {"cases": [{"id": "a", "input": "b", "expect": {"toolOrder": [["x"]]}}]},
            "$.cases[0].expect.toolOrder[0]",
        ),
        ("routes", {"routes": [{"id": "a", "method": "get", "path": "/", "responses": [{}]}]}, "$.routes[0].method"),
        ("tools", {"tools": [{"type": "tool", "function": {"name": "a"}}]}, "$.tools[0].type"),
        ("model", {"rules": []}, "$.rules"),
        ("suite", {"seed": "1"}, "$.seed"),
        ("suite", {"agents": {"a": {"adapter": "chatt"}}}, "$.agents.a.adapter"),
    ],
)
def test_an_editor_is_told_what_loading_would_refuse(kind: str, value: object, place: str) -> None:
    assert [error.json_path for error in validator(kind).iter_errors(value)] == [place]


def test_keys_carry_the_words_of_the_records() -> None:
    limits = schema("suite")["$defs"]["Limits"]["properties"]
    assert limits["seconds"] == {
        "default": 600.0,
        "description": "0: none.",
        "maximum": 1e7,
        "minimum": 0,
        "type": "number",
    }
