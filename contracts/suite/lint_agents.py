"""The rules of [agents.NAME] in suite.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from contracts.suite.agent_files import named_in_command
from contracts.suite.files import SuiteFiles
from contracts.suite.lint_working_dirs import name_refusal
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.settings import Agent

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_URL = re.compile(r"https?://([^\s/?#:@\[\]]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/[^\s?#]*)?")
_PORT_MARK = ":{port}"
_OWN_URL = re.compile(r"http://(localhost|127\.0\.0\.1):")
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
_NEEDED = {"command": "command", "docker-agent": "file", "http": "url"}


def lint_agent(files: SuiteFiles, agent: Agent, place: Place) -> Iterator[Problem]:
    """Everything that is wrong with the agent whose table is at `place`."""
    yield from _lint_agent_keys(agent, place)
    prompts = files.table("prompts")
    if agent.prompt is not None and prompts is not None and agent.prompt not in prompts:
        yield Problem(unknown_name("prompt", agent.prompt, prompts), place / "prompt")
    model = agent.model or ""
    models = {*files.models, *files.unread_models}
    if model.startswith(_SCRIPTED) and model.removeprefix(_SCRIPTED) not in models:
        name = model.removeprefix(_SCRIPTED)
        known = [_SCRIPTED + one for one in models]
        yield Problem(f"no file models/{name}.json: {unknown_name('model', model, known)}", place / "model")
    for index, pattern in enumerate(agent.files or ()):
        if why := _pattern_refusal(files, pattern):
            yield Problem(why, place / "files" / index)
    for name in named_in_command(agent):
        if why := _named_refusal(files, name):
            yield Problem(why, place / "command")


def _lint_agent_keys(agent: Agent, place: Place) -> Iterator[Problem]:
    adapter = place / "adapter"
    for key, adapters in _ONLY_FOR.items():
        if key in agent.model_fields_set and agent.adapter not in adapters:
            text = f"the adapter {agent.adapter} has no {key}; {' or '.join(sorted(adapters))} has"
            yield Problem(text, place / key, reads=(adapter,))
    needed = _NEEDED.get(agent.adapter)
    if needed and not getattr(agent, needed):
        yield Problem(f"the adapter {agent.adapter} needs the key {needed}", place, reads=(adapter, place / needed))
    for key, url in (("url", _with_port(agent)), ("model_url", agent.model_url)):
        if url and (why := url_refusal(url)):
            yield Problem(why, place / key)
    yield from _lint_own_url(agent, place)
    yield from _lint_fixture_tools(agent, place)
    yield from _lint_variables(agent, place)


def _lint_own_url(agent: Agent, place: Place) -> Iterator[Problem]:
    if agent.adapter == "http" and agent.command and agent.url and not _OWN_URL.match(agent.url):
        why = f'the lab starts this agent beside itself: expected http://localhost:{{port}}/…, found "{agent.url}"'
        yield Problem(why, place / "url")


def _lint_fixture_tools(agent: Agent, place: Place) -> Iterator[Problem]:
    if agent.adapter == "docker-agent" and agent.fixture_tools and agent.select == "header":
        why = "docker-agent sends the MCP server no x-eval-case, so its tools would find no world"
        text = f'select = "header" and fixture_tools = true: {why}'
        yield Problem(text, place / "select", reads=(place / "fixture_tools",))


def _with_port(agent: Agent) -> str | None:
    """The URL of an agent that the lab starts may leave the port to the lab."""
    return agent.url.replace(_PORT_MARK, ":1", 1) if agent.url and agent.command else agent.url


def _lint_variables(agent: Agent, place: Place) -> Iterator[Problem]:
    for index, name in enumerate(agent.secret):
        if not _VARIABLE.fullmatch(name):
            yield Problem(f'"{name}" is no name of a variable', place / "secret" / index)
    if agent.auth is not None and not _VARIABLE.fullmatch(agent.auth):
        yield Problem(f'"{agent.auth}" is no name of a variable', place / "auth")


def url_refusal(url: str) -> str | None:
    """Why a text is no URL that the lab could call, or None."""
    if _URL.fullmatch(url):
        return None
    return f'"{url}" is no URL; expected one such as http://agent:8080/v1'


def _pattern_refusal(files: SuiteFiles, pattern: str) -> str | None:
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if pattern.startswith("/") or ".." in parts:
        return f'"{pattern}" leads outside the suite'
    if not parts or any("**" in part and part != "**" for part in parts):
        return f'"{pattern}" is no glob; expected one such as agents/*.py, with ** only as a whole segment'
    found = list(files.folder.root.glob(pattern))
    return _unfit_name(files, found) if found else f'"{pattern}" matches no file of the suite'


def _unfit_name(files: SuiteFiles, paths: Iterable[Path]) -> str | None:
    """Why one of the files, or of those in the folders, cannot be part of the agent's digest."""
    root = files.folder.root
    every = (path for one in paths for path in (one, *(one.rglob("*") if one.is_dir() else ())))
    return next(filter(None, (name_refusal(path.relative_to(root)) for path in every)), None)


def _named_refusal(files: SuiteFiles, name: str) -> str | None:
    why = files.folder.refusal(name, folder=(files.folder.root / name).is_dir())
    if why is None and files.is_withheld(name):
        return f'"{name}" is not in the agent\'s view of the suite: no agent reads the expectations'
    return why or _unfit_name(files, [files.folder.root / name])
