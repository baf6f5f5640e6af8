"""Reads every file of a suite as far as it can be read, and says what is wrong with each."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

from contracts.record import Json
from contracts.suite.agent_files import named_in_command
from contracts.suite.broken import UNKNOWN, Broken
from contracts.suite.case import Case, CasesFile
from contracts.suite.cases_reading import CasesRead, read_cases
from contracts.suite.checking import checked_document
from contracts.suite.kept_cases import WrittenCases
from contracts.suite.lint_names import all_names
from contracts.suite.problems import Document, Place, Problem, Problems
from contracts.suite.reading import SuiteFolder, UnreadableError, read_json, read_toml
from contracts.suite.route import Route, RoutesFile
from contracts.suite.scripted_model import ModelFile
from contracts.suite.session import SessionCase
from contracts.suite.session_files import SessionsRead, read_sessions
from contracts.suite.settings import SuiteSettings
from contracts.suite.tool import Tool, ToolsFile
from contracts.suite.withheld import is_withheld
from contracts.suite.wording import describe, not_json

SETTINGS_FILE = "suite.toml"
MODELS_FOLDER = "models"

R = TypeVar("R", bound=BaseModel)
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Listed(Generic[R]):
    """The items of a file that holds one list, each with its index there."""

    key: str
    document: Document | None = None
    """None: the file is not there or cannot be read."""
    items: Collection[tuple[int, R]] = ()
    """With stand-ins for what is broken in them. Those of a cases.json without any such are made while they are looked
    at, so that whoever wants a few of them asks `having`."""
    is_unread: bool = False
    """True: there is or should be such a file, and nobody can tell what it says."""

    def place(self, index: int) -> Place:
        """The place of an item; only for files that were read."""
        if self.document is None:
            raise ValueError(self.key)
        return self.document.place(self.key, index)

    @property
    def records(self) -> tuple[R, ...]:
        """The items."""
        return tuple(record for _, record in self.items)

    def having(self, *keys: str) -> Iterable[tuple[int, R]]:
        """The items that have one of the keys, and maybe others."""
        items: Any = self.items
        found: Iterable[tuple[int, R]] = items.having(*keys) if hasattr(items, "having") else items
        return found

    def written(self) -> Sequence[Json]:
        """The items as written, right or not."""
        value = self.document.value if self.document else None
        items = value.get(self.key) if isinstance(value, dict) else None
        return items if isinstance(items, list | WrittenCases) else []

    def names(self, *path: str) -> set[str] | None:
        """The names of all items; None where one of them cannot be told, for then no name is surely unknown."""
        return None if self.is_unread else all_names(self.written(), *path)


@dataclass
class SuiteFiles:
    """The files of a suite, parsed; what could not be used is missing here and named in `problems`."""

    folder: SuiteFolder
    problems: Problems = field(default_factory=Problems)
    broken: Broken = field(default_factory=Broken)
    """What of the files has the wrong shape."""
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    settings_document: Document | None = None
    are_settings_unread: bool = False
    """True: there is a suite.toml, and nobody can tell what it says."""
    cases: Listed[Case] = Listed("cases")
    cases_read: CasesRead | None = None
    """None: cases.json is not there, or something of it has the wrong shape."""
    sessions: SessionsRead = field(default_factory=SessionsRead)
    routes: Listed[Route] = Listed("routes")
    tools: Listed[Tool] = Listed("tools")
    state: Document | None = None
    models: Mapping[str, Document] = field(default_factory=dict)
    unread_models: frozenset[str] = frozenset()
    """The names of the files among them that could not be read."""
    model_files: Mapping[str, ModelFile] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    policy: str | None = None

    @property
    def name(self) -> str:
        """The name of the suite's folder."""
        return self.folder.root.resolve().name

    def is_withheld(self, relative: str) -> bool:
        """True for a file of the suite that no agent may read."""
        return is_withheld(self.settings, relative, sessions=self.sessions.files)

    def in_order(self) -> list[str]:
        """The files that the suite has one of, as the user knows them, in the order in which problems are told."""
        settings = self.settings
        names = (SETTINGS_FILE, settings.cases, settings.routes, settings.tools, settings.state)
        return [self.folder.shown(name) for name in names]

    def setting(self, *key: str) -> Place | None:
        """The place of a key in suite.toml; None where there is no such file."""
        return self.settings_document.place(*key) if self.settings_document else None

    def table(self, key: str) -> Mapping[str, Json] | None:
        """A table of suite.toml as written, empty where it has none; None where nobody can tell what is in it."""
        place = self.setting(key)
        if self.are_settings_unread or (place and self.broken.is_lost(place / UNKNOWN)):
            return None
        table: Mapping[str, Json] = self.settings_document.value.get(key, {}) if self.settings_document else {}
        return table

    def declaration(self, agent: str) -> dict[str, Json]:
        """The agent's table of suite.toml as written."""
        table: dict[str, Json] = self.settings_document.value["agents"][agent] if self.settings_document else {}
        return table


def read_files(folder: SuiteFolder) -> SuiteFiles:
    """All files of the suite; whatever is wrong with one of them is in `problems`."""
    files = SuiteFiles(folder=folder)
    _read_settings(files)
    _read_cases(files)
    _read_sessions(files)
    files.routes = _read_list(files, "routes", RoutesFile)
    files.tools = _read_list(files, "tools", ToolsFile)
    if not _is_lost(files, "state"):
        files.state = _read_state(files)
    _read_models(files)
    _read_texts(files)
    return files


def read_session_cases(root: Path, case_ids: Iterable[str]) -> dict[str, SessionCase]:
    """Those of the cases that are docker-agent sessions, as far as the files of a suite, or of a part of one, tell.

    Nothing is refused: a session that is not there is one that expects nothing; where none is there, no case is one.
    """
    files = SuiteFiles(folder=SuiteFolder(root))
    if not root.is_dir():
        return {}
    _read_settings(files)
    if files.settings.sessions is None and _has_cases(files):
        return {}
    _read_sessions(files)
    own: Listed[Case] = _read_list(files, "cases", CasesFile)
    ids = {case.id for case in own.records}
    found = {source.case.id: source.case for source in files.sessions.sources}
    # with none of them there, it may be a cases.json that was too large to be kept
    return {name: found.get(name) or _silent_session(name) for name in case_ids if found and name not in ids}


def _silent_session(case_id: str) -> SessionCase:
    return SessionCase.model_validate({"id": case_id, "input": "", "expect": {}})


def _has_cases(files: SuiteFiles) -> bool:
    return "cases" in files.settings.model_fields_set or files.folder.has(files.settings.cases)


def _is_lost(files: SuiteFiles, key: str) -> bool:
    """True when suite.toml names something under the key, and nobody can tell what."""
    place = files.setting(key)
    return place is not None and files.broken.is_lost(place)


def _read_settings(files: SuiteFiles) -> None:
    if not files.folder.has(SETTINGS_FILE):
        return
    try:
        document, problems = read_toml(files.folder, SETTINGS_FILE)
    except UnreadableError as error:
        files.problems.add([error.problem])
        files.are_settings_unread = True
        return
    files.settings_document = document
    files.settings = _record(files, SuiteSettings, document, problems) or SuiteSettings()


def _record(files: SuiteFiles, model: type[M], document: Document, problems: Sequence[Problem]) -> M | None:
    """The document as a record, and what is wrong with it noted: `problems` of reading, and those of its shape."""
    checked = checked_document(model, document, was_refused=bool(problems))
    files.problems.add([*problems, *checked.problems])
    files.broken.add(document, checked.broken)
    return checked.record


def _read_list(files: SuiteFiles, key: str, model: type[BaseModel]) -> Listed[R]:
    if _is_lost(files, key):
        return Listed(key, is_unread=True)
    relative = getattr(files.settings, key)
    found = _read_document(files, relative, key=key)
    if found is None:
        is_named = key in files.settings.model_fields_set or files.are_settings_unread
        return Listed(key, is_unread=is_named or files.folder.has(relative))
    document, problems = found
    whole = _record(files, model, document, problems)
    if whole is None or files.broken.is_lost(document.place(key)):
        return Listed(key, document, is_unread=True)
    return Listed(key, document, tuple(enumerate(getattr(whole, key))))


def _read_cases(files: SuiteFiles) -> None:
    """Case by case, and as a whole only where that is needed to tell what is wrong."""
    relative = files.settings.cases
    if not _is_lost(files, "cases") and files.folder.has(relative):
        with suppress(UnreadableError):  # which is told below
            text = files.folder.read_text(relative)
            files.cases_read = read_cases(text)
    if files.cases_read is None:
        files.cases = _read_list(files, "cases", CasesFile)
        return
    cases = files.cases_read.cases
    value = {**files.cases_read.head, "cases": cases.as_written()}
    files.cases = Listed("cases", Document(files.folder.shown(relative), text, value), cases.placed())


def _read_sessions(files: SuiteFiles) -> None:
    """The sessions of the folder that suite.toml names, or, where there are no cases, of the suite's own folder."""
    settings, folder = files.settings, files.folder
    if files.are_settings_unread or _is_lost(files, "cases") or _is_lost(files, "sessions"):
        return
    relative = settings.sessions
    if relative is None:
        if _has_cases(files):
            return
        relative = ""
    elif folder.refusal(relative, folder=True):
        return
    files.sessions = read_sessions(folder, relative, own=_files_named(settings))
    files.problems.add(files.sessions.problems)
    for document, broken in files.sessions.broken:
        files.broken.add(document, broken)


def _files_named(settings: SuiteSettings) -> set[str]:
    """The paths of the suite's other files: they are no sessions, wherever they are."""
    named = {settings.cases, settings.routes, settings.tools, settings.state, *settings.lock_files}
    named |= {*settings.compose_files, *(prompt.file for prompt in settings.prompts.values())}
    named |= {settings.policy.file} if settings.policy else set()
    for agent in settings.agents.values():
        named |= {*named_in_command(agent), *(agent.files or ()), *((agent.file,) if agent.file else ())}
    return {posixpath.normpath(name) for name in named}


def _read_state(files: SuiteFiles) -> Document | None:
    found = _read_document(files, files.settings.state, key="state")
    if found is None:
        return None
    document, problems = found
    files.problems.add(problems)
    if not isinstance(document.value, dict):
        files.problems.add([Problem(f"expected an object, found {describe(document.value)}", document.place())])
    try:
        from_json(document.text)
    except ValueError as error:
        # The same reader as for all other files: it knows lone surrogates and too deep nesting.
        why = not_json(str(error))
        files.problems.add([Problem(why, document.place())] if why else [])
    return document


def _read_document(files: SuiteFiles, relative: str, *, key: str) -> tuple[Document, list[Problem]] | None:
    """A JSON file that suite.toml may name, and what is wrong with it; absent it is fine unless it is named."""
    named = key in files.settings.model_fields_set
    if not named and not files.folder.has(relative):
        return None
    why = files.folder.refusal(relative)
    if why:
        place = files.setting(key) if named else None
        files.problems.add([Problem(why, place, file=files.folder.shown(relative))])
        return None
    return _parsed(files, relative)


def _parsed(files: SuiteFiles, relative: str) -> tuple[Document, list[Problem]] | None:
    try:
        return read_json(files.folder, relative)
    except UnreadableError as error:
        files.problems.add([error.problem])
        return None


def _read_models(files: SuiteFiles) -> None:
    folder = files.folder.root / MODELS_FOLDER
    if folder.is_symlink() and (why := files.folder.refusal(MODELS_FOLDER, folder=True)):
        files.problems.add([Problem(why, file=files.folder.shown(MODELS_FOLDER))])
        return
    documents: dict[str, Document] = {}
    records: dict[str, ModelFile] = {}
    unread: set[str] = set()
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        if path.name.startswith("."):
            continue
        found = _parsed(files, f"{MODELS_FOLDER}/{path.name}")
        if found is None:
            unread.add(path.stem)
            continue
        document, problems = found
        documents[path.stem] = document
        record = _record(files, ModelFile, document, problems)
        if record is not None:
            records[path.stem] = record
    files.models, files.model_files, files.unread_models = documents, records, frozenset(unread)


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
        files.problems.add(files.broken.without_consequences([Problem(why, files.setting(*key))]))
        return None
    try:
        return files.folder.read_text(relative)
    except UnreadableError as error:
        files.problems.add([error.problem])
        return None
