"""The rules of suite.toml: instants, names of the world, and files that must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from contracts.suite.agent_files import named_in_command
from contracts.suite.files import SuiteFiles
from contracts.suite.lint_names import shared_names
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.settings import Agent

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_TIMEZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_LOCALE = re.compile(r"[A-Za-z][A-Za-z0-9_.@-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCRIPTED = "scripted/"
_ONLY_FOR = {
    "command": {"command", "http"},
    "url": {"http"},
    "protocol": {"http"},
    "auth_required": {"http"},
    "file": {"docker-agent"},
    "args": {"docker-agent"},
    "binary_image": {"docker-agent"},
    "fixture_tools": {"docker-agent"},
}
_NEEDED = {"command": "command", "docker-agent": "file"}


def lint_settings(files: SuiteFiles) -> Iterator[Problem]:
    """Everything that is wrong in suite.toml; nothing where there is none."""
    document = files.settings_document
    if document is None:
        return
    settings, top = files.settings, document.place()
    if why := _clock_refusal(settings.clock):
        yield Problem(why, top / "clock")
    if why := _timezone_refusal(settings.timezone):
        yield Problem(why, top / "timezone")
    if not _LOCALE.fullmatch(settings.locale):
        yield Problem(f'"{settings.locale}" is no locale; expected a name such as C.UTF-8', top / "locale")
    yield from _lint_references(files, top)
    for kind, table in (("prompt", settings.prompts), ("agent", settings.agents), ("job", settings.jobs)):
        yield from shared_names(kind, ((name, top / f"{kind}s" / name) for name in table))
    for name, agent in settings.agents.items():
        yield from _lint_agent(files, agent, top / "agents" / name)


def _clock_refusal(text: str) -> str | None:
    if not _RFC_3339.fullmatch(text):
        return f'"{text}" is no RFC 3339 instant with an offset, such as 2026-09-01T12:00:00Z'
    try:
        datetime.fromisoformat(text.upper())
    except ValueError as error:
        return f'"{text}" is no instant: {error}'
    return None


def _timezone_refusal(name: str) -> str | None:
    """Why it is no IANA timezone; only the form is looked at where the machine has no list of them."""
    if name == "UTC":
        return None
    if not _TIMEZONE.fullmatch(name):
        return f'"{name}" is no IANA timezone, such as Europe/Berlin'
    import zoneinfo  # noqa: PLC0415 - most suites are UTC

    known = zoneinfo.available_timezones()
    if not known or name in known:
        return None
    return unknown_name("timezone", name, known)


def _lint_references(files: SuiteFiles, top: Place) -> Iterator[Problem]:
    settings = files.settings
    for key in ("lock_files", "compose_files"):
        for index, relative in enumerate(getattr(settings, key)):
            if why := files.folder.refusal(relative):
                yield Problem(why, top / key / index)
    if settings.sessions is not None and (why := files.folder.refusal(settings.sessions, folder=True)):
        yield Problem(why, top / "sessions")
    written = top.document.value.get("agents", {})
    if settings.default_agent is not None and settings.default_agent not in written:
        yield Problem(unknown_name("agent", settings.default_agent, written), top / "default_agent")


def _lint_agent(files: SuiteFiles, agent: Agent, place: Place) -> Iterator[Problem]:
    yield from _lint_agent_keys(agent, place)
    prompts = files.settings_document.value.get("prompts", {}) if files.settings_document else {}
    if agent.prompt is not None and agent.prompt not in prompts:
        yield Problem(unknown_name("prompt", agent.prompt, prompts), place / "prompt")
    model = agent.model or ""
    if model.startswith(_SCRIPTED) and model.removeprefix(_SCRIPTED) not in files.models:
        name = model.removeprefix(_SCRIPTED)
        known = [_SCRIPTED + one for one in files.models]
        yield Problem(f"no file models/{name}.json: {unknown_name('model', model, known)}", place / "model")
    for index, pattern in enumerate(agent.files or ()):
        if why := _pattern_refusal(files, pattern):
            yield Problem(why, place / "files" / index)
    for name in named_in_command(agent):
        if why := _named_refusal(files, name):
            yield Problem(why, place / "command")


def _lint_agent_keys(agent: Agent, place: Place) -> Iterator[Problem]:
    for key, adapters in _ONLY_FOR.items():
        if key in agent.model_fields_set and agent.adapter not in adapters:
            yield Problem(f"the adapter {agent.adapter} has no {key}; {' or '.join(sorted(adapters))} has", place / key)
    needed = _NEEDED.get(agent.adapter)
    if needed and not getattr(agent, needed):
        yield Problem(f"the adapter {agent.adapter} needs the key {needed}", place)
    if agent.adapter == "http" and not agent.url:
        yield Problem("the adapter http needs the key url", place)
    for index, name in enumerate(agent.secret):
        if not _VARIABLE.fullmatch(name):
            yield Problem(f'"{name}" is no name of a variable', place / "secret" / index)
    if agent.auth is not None and not _VARIABLE.fullmatch(agent.auth):
        yield Problem(f'"{agent.auth}" is no name of a variable', place / "auth")


def _pattern_refusal(files: SuiteFiles, pattern: str) -> str | None:
    if not pattern or pattern.startswith("/") or ".." in pattern.split("/"):
        return f'"{pattern}" leads outside the suite'
    try:
        found = next(files.folder.root.glob(pattern), None)
    except (ValueError, NotImplementedError) as error:
        return f'"{pattern}" is no glob: {error}'
    return None if found else f'"{pattern}" matches no file of the suite'


def _named_refusal(files: SuiteFiles, name: str) -> str | None:
    why = files.folder.refusal(name, folder=(files.folder.root / name).is_dir())
    if why is None and files.is_withheld(name):
        return f'"{name}" is not in the agent\'s view of the suite: no agent reads the expectations'
    return why
