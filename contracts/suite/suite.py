"""A suite as it was read: every file parsed, every reference resolved, every digest taken."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.kept_cases import CaseDigests, KeptCases
from contracts.suite.route import Route
from contracts.suite.scripted_model import ModelFile
from contracts.suite.settings import Agent, SuiteSettings
from contracts.suite.tool import Tool

WORKING_DIRS_FOLDER = "working_dirs"


@dataclass(frozen=True)
class Revision:
    """A label and the digest of the content that it names."""

    label: str
    digest: str


@dataclass(frozen=True)
class Text:
    """A prompt or policy file."""

    name: str
    text: str
    digest: str


@dataclass(frozen=True)
class Suite:
    """What `contracts.suite.loading.load_suite` returns; nothing in it is read from disk again."""

    root: Path
    settings: SuiteSettings
    defaulted: tuple[str, ...]
    """The keys of suite.toml that were absent and took their documented default."""
    cases: KeptCases
    """Protected ones first, then in the order of the file."""
    case_digests: Mapping[str, str]
    """Over the case as written, without id, title, tags and protected."""
    routes: tuple[Route, ...]
    state: Json
    tools: tuple[Tool, ...]
    models: Mapping[str, ModelFile]
    model_digests: Mapping[str, str]
    prompts: Mapping[str, Text]
    policy: Text | None
    dataset: Revision
    """Digest over routes and state as written; the label is the suite's revision, else the digest."""
    tool_schema: Revision
    agent_files: Mapping[str, Mapping[str, str]]
    """For each agent the content digests of the suite's files that it is made of, by their paths in the suite."""
    agent_digests: Mapping[str, str]
    """Over the agent's table of suite.toml as written and its files."""
    sessions: Mapping[str, str] = field(default_factory=dict)
    """The cases that are docker-agent sessions, by id: their files, below the suite's folder."""

    def with_cases(self, cases: KeptCases) -> Suite:
        """The suite with some of its cases only, so that nothing is left of the others."""
        digests = CaseDigests.of({case_id: self.case_digests[case_id] for case_id in cases.ids()})
        return replace(self, cases=cases, case_digests=digests)

    def case(self, case_id: str) -> Case:
        """The case of that id; raises KeyError."""
        return self.cases.case(case_id)

    def working_dir_of(self, case: Case) -> Path | None:
        """The folder that is copied for each attempt at the case: in working_dirs/, a session's beside the session."""
        if case.working_dir is None:
            return None
        beside = posixpath.dirname(self.sessions.get(case.id, ""))
        return self.root / beside / WORKING_DIRS_FOLDER / case.working_dir

    def shown(self, relative: str) -> str:
        """A file of the suite as the user knows it: below the name of the suite's folder."""
        return f"{self.root.resolve().name}/{relative}"

    @property
    def agents(self) -> Mapping[str, Agent]:
        """The agents that suite.toml declares."""
        return self.settings.agents
