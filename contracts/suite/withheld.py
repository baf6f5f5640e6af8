"""Which files of a suite no agent may read: whatever tells what is expected, or what the world will answer."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from contracts.suite.settings import SuiteSettings

_ALWAYS = frozenset({"suite.toml", "cases.json", "routes.json", "state.json", "models", "sessions"})


def is_withheld(settings: SuiteSettings, relative: str, *, sessions: Iterable[str] = ()) -> bool:
    """True for cases, routes, state, models, sessions and suite.toml, under their usual and their configured names.

    `sessions` are the files of docker-agent sessions by their paths in the suite.
    """
    path = posixpath.normpath(relative)
    configured = {settings.cases, settings.routes, settings.state, settings.sessions}
    names = _ALWAYS | set(sessions) | {posixpath.normpath(name) for name in configured if name}
    return any(path == name or path.startswith(name + "/") for name in names)
