"""The rules of suite.toml: instants, names of the world, and files that must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from contracts.suite.files import SuiteFiles
from contracts.suite.lint_agents import lint_agent, url_refusal
from contracts.suite.lint_names import shared_names
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.settings import SuiteSettings
from contracts.suite.wording import describe

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_TIMEZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_LOCALE = re.compile(r"[A-Za-z][A-Za-z0-9_.@-]*")
_MODEL = re.compile(r"[^/\s]+/\S+")
_PROFILES = ("fault", "observe")


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
    yield from _lint_judge(settings, top)
    yield from _lint_references(files, top)
    yield from _lint_jobs(settings, top / "jobs")
    for kind, table in (("prompt", settings.prompts), ("agent", settings.agents), ("job", settings.jobs)):
        yield from shared_names(kind, ((name, top / f"{kind}s" / name) for name in table))
    for name, agent in settings.agents.items():
        yield from lint_agent(files, agent, top / "agents" / name)


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


def _lint_judge(settings: SuiteSettings, top: Place) -> Iterator[Problem]:
    model, url = settings.judge_model, settings.judge_url
    if model is not None and not _MODEL.fullmatch(model):
        yield Problem(f"expected provider/model, found {describe(model)}", top / "judge_model")
    if url is not None and (why := url_refusal(url)):
        yield Problem(why, top / "judge_url")


def _lint_jobs(settings: SuiteSettings, place: Place) -> Iterator[Problem]:
    """Profiles that nothing declares; those that Compose files may declare are known only to a run."""
    if settings.compose_files:
        return
    for name, job in settings.jobs.items():
        for index, profile in enumerate(job.profiles):
            if profile not in _PROFILES:
                here = place / name / "profiles" / index
                declared = here.document.place("compose_files")
                yield Problem(unknown_name("profile", profile, _PROFILES), here, reads=(here, declared))


def _lint_references(files: SuiteFiles, top: Place) -> Iterator[Problem]:
    settings = files.settings
    for key in ("lock_files", "compose_files"):
        for index, relative in enumerate(getattr(settings, key)):
            if why := files.folder.refusal(relative):
                yield Problem(why, top / key / index)
    if settings.sessions is not None and (why := files.folder.refusal(settings.sessions, folder=True)):
        yield Problem(why, top / "sessions")
    agents = files.table("agents")
    if settings.default_agent is not None and agents is not None and settings.default_agent not in agents:
        yield Problem(unknown_name("agent", settings.default_agent, agents), top / "default_agent")
