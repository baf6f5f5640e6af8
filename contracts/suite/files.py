"""Reads every file of a suite as far as it can be read, and says what is wrong with each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

from contracts.record import Json
from contracts.suite.case import Case, CasesFile
from contracts.suite.checking import checked, checked_document
from contracts.suite.problems import Document, Place, Problem, Problems
from contracts.suite.reading import SuiteFolder, UnreadableError, read_json, read_toml
from contracts.suite.route import Route, RoutesFile
from contracts.suite.scripted_model import ModelFile
from contracts.suite.settings import SuiteSettings
from contracts.suite.tool import Tool, ToolsFile
from contracts.suite.withheld import is_withheld
from contracts.suite.wording import describe, not_json

SETTINGS_FILE = "suite.toml"
MODELS_FOLDER = "models"
WORKING_DIRS_FOLDER = "working_dirs"
_NAMED_TABLES = frozenset({"prompts", "agents", "jobs", "limits"})

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Listed(Generic[R]):
    """The usable items of a file that holds one list, each with its index there."""

    key: str
    document: Document | None = None
    """None: the file is not there or cannot be read."""
    items: tuple[tuple[int, R], ...] = ()

    def place(self, index: int) -> Place:
        """The place of an item; only for files that were read."""
        if self.document is None:
            raise ValueError(self.key)
        return self.document.place(self.key, index)

    @property
    def records(self) -> tuple[R, ...]:
        """The usable items."""
        return tuple(record for _, record in self.items)

    def written(self) -> list[Json]:
        """The items as written, usable or not."""
        value = self.document.value if self.document else None
        items = value.get(self.key) if isinstance(value, dict) else None
        return items if isinstance(items, list) else []


@dataclass
class SuiteFiles:
    """The files of a suite, parsed; what could not be used is missing here and named in `problems`."""

    folder: SuiteFolder
    problems: Problems = field(default_factory=Problems)
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    settings_document: Document | None = None
    cases: Listed[Case] = Listed("cases")
    routes: Listed[Route] = Listed("routes")
    tools: Listed[Tool] = Listed("tools")
    state: Document | None = None
    models: Mapping[str, Document] = field(default_factory=dict)
    model_files: Mapping[str, ModelFile] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    policy: str | None = None

    @property
    def name(self) -> str:
        """The name of the suite's folder."""
        return self.folder.root.resolve().name

    def is_withheld(self, relative: str) -> bool:
        """True for a file of the suite that no agent may read."""
        return is_withheld(self.settings, relative)

    def in_order(self) -> list[str]:
        """The files that the suite has one of, as the user knows them, in the order in which problems are told."""
        settings = self.settings
        names = (SETTINGS_FILE, settings.cases, settings.routes, settings.tools, settings.state)
        return [self.folder.shown(name) for name in names]

    def setting(self, *key: str) -> Place | None:
        """The place of a key in suite.toml; None where there is no such file."""
        return self.settings_document.place(*key) if self.settings_document else None

    def declaration(self, agent: str) -> dict[str, Json]:
        """The agent's table of suite.toml as written."""
        table: dict[str, Json] = self.settings_document.value["agents"][agent] if self.settings_document else {}
        return table


def read_files(folder: SuiteFolder) -> SuiteFiles:
    """All files of the suite; whatever is wrong with one of them is in `problems`."""
    files = SuiteFiles(folder=folder)
    unusable = _read_settings(files)
    if "cases" not in unusable:
        files.cases = _read_list(files, "cases", CasesFile)
    if "routes" not in unusable:
        files.routes = _read_list(files, "routes", RoutesFile)
    if "tools" not in unusable:
        files.tools = _read_list(files, "tools", ToolsFile)
    if "state" not in unusable:
        files.state = _read_state(files)
    _read_models(files)
    _read_texts(files)
    return files


def _read_settings(files: SuiteFiles) -> set[str]:
    """Reads suite.toml and returns its top keys whose values could not be used."""
    if not (files.folder.root / SETTINGS_FILE).exists():
        return set()
    try:
        document, problems = read_toml(files.folder, SETTINGS_FILE)
    except UnreadableError as error:
        files.problems.add([error.problem])
        return set()
    files.settings_document = document
    files.problems.add(problems)
    settings, wrong = checked_document(SuiteSettings, document)
    files.problems.add(wrong)
    if settings is None:
        settings, _ = checked(SuiteSettings, document.place(), _without(document.value, wrong))
    files.settings = settings or SuiteSettings()
    return {str(problem.place.path[0]) for problem in wrong if problem.place and problem.place.path}


def _without(value: dict[str, Json], wrong: list[Problem]) -> dict[str, Json]:
    """The settings without the wrong keys; of a table with named entries only the wrong entry goes."""
    kept = {key: dict(one) if key in _NAMED_TABLES and isinstance(one, dict) else one for key, one in value.items()}
    for problem in wrong:
        key, *below = problem.place.path if problem.place else ("",)
        if below and key in _NAMED_TABLES and isinstance(kept.get(str(key)), dict):
            kept[str(key)].pop(below[0], None)
        else:
            kept.pop(str(key), None)
    return kept


def _read_list(files: SuiteFiles, key: str, model: type[BaseModel]) -> Listed[R]:
    document = _read_document(files, getattr(files.settings, key), key=key)
    if document is None:
        return Listed(key)
    whole, wrong = checked_document(model, document)
    files.problems.add(wrong)
    if whole is not None:
        return Listed(key, document, tuple(enumerate(getattr(whole, key))))
    item_model: type[R] = model.model_fields[key].annotation.__args__[0]  # type: ignore[union-attr]  # tuple[Item, ...]
    return Listed(key, document, tuple(_usable(item_model, Listed(key, document))))


def _usable(model: type[R], listed: Listed[R]) -> Iterator[tuple[int, R]]:
    """The items that are right by themselves; what is wrong with the others was said for the whole file."""
    for index, value in enumerate(listed.written()):
        record, _ = checked(model, listed.place(index), value)
        if record is not None:
            yield index, record


def _read_state(files: SuiteFiles) -> Document | None:
    document = _read_document(files, files.settings.state, key="state")
    if document is None:
        return None
    if not isinstance(document.value, dict):
        files.problems.add([Problem(f"expected an object, found {describe(document.value)}", document.place())])
    try:
        from_json(document.text)
    except ValueError as error:
        # The same reader as for all other files: it knows lone surrogates and too deep nesting.
        why = not_json(str(error))
        files.problems.add([Problem(why, document.place())] if why else [])
    return document


def _read_document(files: SuiteFiles, relative: str, *, key: str) -> Document | None:
    """A JSON file that suite.toml may name; absent it is fine unless it is named."""
    named = key in files.settings.model_fields_set
    if not named and not (files.folder.root / relative).exists():
        return None
    why = files.folder.refusal(relative)
    if why:
        place = files.setting(key) if named else None
        files.problems.add([Problem(why, place, file=files.folder.shown(relative))])
        return None
    return _parsed(files, relative)


def _parsed(files: SuiteFiles, relative: str) -> Document | None:
    try:
        document, problems = read_json(files.folder, relative)
    except UnreadableError as error:
        files.problems.add([error.problem])
        return None
    files.problems.add(problems)
    return document


def _read_models(files: SuiteFiles) -> None:
    folder = files.folder.root / MODELS_FOLDER
    documents: dict[str, Document] = {}
    records: dict[str, ModelFile] = {}
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        document = None if path.name.startswith(".") else _parsed(files, f"{MODELS_FOLDER}/{path.name}")
        if document is None:
            continue
        documents[path.stem] = document
        record, wrong = checked_document(ModelFile, document)
        files.problems.add(wrong)
        if record is not None:
            records[path.stem] = record
    files.models, files.model_files = documents, records


def _read_texts(files: SuiteFiles) -> None:
    """Reads prompts and policy."""
    prompts: dict[str, str] = {}
    for name, prompt in files.settings.prompts.items():
        text = _named_text(files, prompt.file, "prompts", name, "file")
        if text is not None:
            prompts[name] = text
    files.prompts = prompts
    if files.settings.policy:
        files.policy = _named_text(files, files.settings.policy.file, "policy", "file")


def _named_text(files: SuiteFiles, relative: str, *key: str) -> str | None:
    why = files.folder.refusal(relative)
    if why:
        files.problems.add([Problem(why, files.setting(*key))])
        return None
    try:
        return files.folder.read_text(relative)
    except UnreadableError as error:
        files.problems.add([error.problem])
        return None
