"""The files of this machine that a command agent runs as: its program, and a script that it is given outright."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from contracts.canonical import digest_of_file
from contracts.plan import AgentPlan, Program
from contracts.suite.suite import Suite

_SUITE = "{suite}"


def program_of_command(agent: AgentPlan, suite: Suite, *, path: str | None) -> Program | None:
    """The file that the command begins with; None where it is one of the suite's that `agentDigest` has.

    None also where there is none that could be started: then each attempt says so.

    Args:
        agent: with a command.
        suite: that declares it.
        path: PATH as the agent has it; None: that of this process.

    """
    word = (agent.command or ("",))[0]
    found = _found(_in_suite(word, suite), path=path)
    return None if found is None or _is_in_agent_digest(word, agent, suite) else _program(word, found)


def script_of_command(agent: AgentPlan, suite: Suite) -> Program | None:
    """The first argument that is no option, where it is a file by its absolute path: `python3 -u /opt/desk.py`.

    None where there is none, or `agentDigest` has it.
    """
    word = next((one for one in (agent.command or ())[1:] if not one.startswith("-")), "")
    file = Path(_in_suite(word, suite))
    if _is_in_agent_digest(word, agent, suite) or not (file.is_absolute() and file.is_file()):
        return None
    return _program(word, file)


def _in_suite(word: str, suite: Suite) -> str:
    """As an attempt has it: with the whole path of the suite, however the user named it."""
    return word.replace(_SUITE, str(suite.root.absolute()))


def _found(program: str, *, path: str | None) -> Path | None:
    """As it is found from a fresh directory: what is relative leads nowhere there."""
    if "/" in program:
        file = Path(program)
        return file if file.is_absolute() and file.is_file() and os.access(file, os.X_OK) else None
    whole = os.environ.get("PATH", os.defpath) if path is None else path
    folders = os.pathsep.join(folder for folder in whole.split(os.pathsep) if Path(folder).is_absolute())
    found = shutil.which(program, path=folders) if program and folders else None
    return None if found is None else Path(found)


def _is_in_agent_digest(word: str, agent: AgentPlan, suite: Suite) -> bool:
    """Files of the suite that a command names are, unless the agent declares what else it is made of."""
    return word.startswith(_SUITE) and suite.agents[agent.name].files is None


def _program(word: str, file: Path) -> Program:
    """By the name that the suite has for it, marked as the agent's: no other program of the run has that name."""
    return Program(name=f"agent:{word}", digest=digest_of_file(file))
