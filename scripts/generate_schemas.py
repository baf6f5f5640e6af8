"""Writes contracts/schemas/ of a suite's files and of comparison.json; with --check says whether they are current."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from contracts.comparison import Comparison
from contracts.record import Record
from contracts.suite.case import CasesFile
from contracts.suite.route import RoutesFile
from contracts.suite.scripted_model import ModelFile
from contracts.suite.session import Session
from contracts.suite.settings import SuiteSettings
from contracts.suite.tool import ToolsFile

TARGET = Path(__file__).resolve().parent.parent / "contracts" / "schemas"
_FILES: dict[str, tuple[type[Record], str, str]] = {
    "suite": (SuiteSettings, "suite.toml", "The settings of a suite: its world, its agents, its limits."),
    "cases": (CasesFile, "cases.json", "What is asked of the agent and what is expected of it."),
    "routes": (RoutesFile, "routes.json", "What the fixture API answers."),
    "tools": (ToolsFile, "tools.json", "The tools that agents are offered, and how each one is called over HTTP."),
    "model": (ModelFile, "models/NAME.json", "The rules of the scripted model scripted/NAME."),
    "comparison": (Comparison, "comparison.json", "What changed between two sealed runs (docs/comparison.md)."),
    "session": (Session, "NAME.json of docker-agent sessions", "What is read of a session; other keys mean nothing."),
}


class _WithoutFieldTitles(GenerateJsonSchema):
    """Draft 2020-12 as pydantic makes it; a title that only repeats the key helps nobody."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's own signature
        return False


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of file: suite, cases, routes, tools, model, session or comparison."""
    model, title, description = _FILES[name]
    schema = model.model_json_schema(schema_generator=_WithoutFieldTitles)
    records = _records(Record)
    # a record that holds others of its own kind is among the definitions, and the whole only refers to it
    whole = {} if "$ref" in schema else {model.__name__: schema}
    for title_of_record, definition in {**schema.get("$defs", {}), **whole}.items():
        if title_of_record in records:  # an enumeration has no keys
            _describe_keys(definition, records[title_of_record])
    head = {"$schema": GenerateJsonSchema.schema_dialect, "title": title, "description": description}
    return head | {key: value for key, value in schema.items() if key not in head}


def _records(base: type[Record]) -> dict[str, type[Record]]:
    found = {one.__name__: one for one in base.__subclasses__()}
    return {**{name: deeper for one in found.values() for name, deeper in _records(one).items()}, **found}


def _describe_keys(definition: dict[str, Any], record: type[Record]) -> None:
    """The text below a field of the record becomes the description of its key; no key is shown to default to null."""
    texts = _field_texts(record)
    for name, field in record.model_fields.items():
        key = definition["properties"][field.alias or name]
        if key.get("default", ...) is None:
            del key["default"]
        if name in texts:
            key["description"] = texts[name]


def _field_texts(record: type[Record]) -> dict[str, str]:
    """The strings that stand below the record's fields, by field."""
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    return {
        field.target.id: inspect.cleandoc(text.value.value).replace("\n", " ")
        for field, text in itertools.pairwise(statements)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def schema_texts() -> dict[str, str]:
    """The text of every schema file by its name."""
    return {f"{name}.schema.json": json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n" for name in _FILES}


def main() -> int:
    """Write the schemas, or compare them; 1 when one is not current."""
    texts = schema_texts()
    if "--check" not in sys.argv[1:]:
        TARGET.mkdir(exist_ok=True)
        for name, text in texts.items():
            (TARGET / name).write_text(text)
        return 0
    committed = {path.name: path.read_text() for path in TARGET.glob("*.json")}
    stale = sorted(name for name in texts.keys() | committed.keys() if texts.get(name) != committed.get(name))
    for name in stale:
        print(f"contracts/schemas/{name} is not current; next: python -m scripts.generate_schemas", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
