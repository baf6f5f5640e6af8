"""A suite as it was read: every file parsed, every reference resolved, every digest taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.route import Route
from contracts.suite.scripted_model import ModelFile
from contracts.suite.settings import Agent, SuiteSettings
from contracts.suite.tool import Tool


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
    cases: tuple[Case, ...]
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

    @cached_property
    def _by_id(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.cases}

    def case(self, case_id: str) -> Case:
        """The case of that id; raises KeyError."""
        return self._by_id[case_id]

    def shown(self, relative: str) -> str:
        """A file of the suite as the user knows it: below the name of the suite's folder."""
        return f"{self.root.resolve().name}/{relative}"

    @property
    def agents(self) -> Mapping[str, Agent]:
        """The agents that suite.toml declares."""
        return self.settings.agents
