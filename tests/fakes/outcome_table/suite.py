"""One suite with a case for every deed of the table, its agents, and the judge and the provider that fail for it."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.fakes import served_controls
from tests.fakes.control_suites import (
    CONTROLS,
    LOOKUP_CALL,
    MISSING,
    PROGRAM,
    RULES,
    SAYS_DONE,
    TALKER,
    agent_table,
    settings_of,
    write_controls,
)
from tests.fakes.docker_agent_suites import AGENT, write_agent
from tests.fakes.model_service import Answer, completion, model_service
from tests.fakes.outcome_table import provider
from tests.fakes.outcome_table.cells import CELLS, Cell
from tests.fakes.outcome_table.deeds import Deed
from tests.fakes.served_controls import SERVED, served_table
from tests.fakes.session_folder import said, session

FILE = "../agent.yaml"
CASES = tuple({cell.case_id: cell for cell in CELLS if isinstance(cell.deed, Deed)}.values())
"""One cell for each case; on other combinations it is the same."""
_SLOW = {"toolCalls": [{"name": "lookup", "arguments": {"id": "slow"}}]}
_MUCH = {"text": "x" * 400_000, "toolCalls": [LOOKUP_CALL]}
_BROKEN = {"toolCalls": [{"name": "lookup", "arguments": {"id": "broken"}}]}
_COMPOSE = """\
services:
  provider:
    image: {image}
    profiles: [outside]
    entrypoint: [python3, /provider.py]
    environment: {{HOST: 0.0.0.0}}
    volumes: ["./agents/provider.py:/provider.py:ro"]
    healthcheck:
      test: [CMD, python3, -c, "import socket; socket.create_connection(('127.0.0.1', {port}), 2)"]
      interval: 5s
      start_period: 30s
      start_interval: 200ms
"""


class Place(NamedTuple):
    """What differs between the backends in the suite."""

    provider_url: str
    image: str | None = None
    """Of the stack's provider; None: it runs in the test."""


def in_stack(image: str) -> Place:
    """The provider is a service of the suite's own compose file."""
    return Place(f"http://provider:{provider.PORT}/v1", image)


@contextmanager
def provider_here() -> Iterator[Place]:
    """The provider is at a loopback port, in a thread."""
    with provider.service("127.0.0.1", 0) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Place(f"http://127.0.0.1:{server.server_address[1]}/v1")
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def judge_here() -> Iterator[str]:
    """The judge, on real HTTP: does what the statement is about. Yields its URL."""
    with model_service(_judged) as service:
        yield service.url


def _judged(request: dict[str, Any]) -> Answer | None:
    statement = json.loads(request["messages"][1]["content"].split("\n")[1])
    if statement == "nobody answers":
        return None
    if statement == "it rambles":
        return completion("Well. " * 500 + "pass")
    passes = statement == "it is done" or (statement == "they disagree" and request["seed"] == 0)
    verdict = {"reason": "The transcript shows it.", "result": "pass" if passes else "fail"}
    return completion(None, ("judge_response", json.dumps(verdict)))


def write_outcome_suite(root: Path, *, place: Place, judge_url: str) -> Path:
    """The agent file and its streams below `root`, and the suite in `root/evals`, which it returns."""
    evals = root / "evals"
    sessions = [cell for cell in CASES if cell.row.is_session]
    cases = [_case(cell) for cell in CASES if not cell.row.is_session]
    write_controls(evals, cases, settings=_settings(place, judge_url), rules=[*_rules(), *RULES])
    (evals / "agents" / "served.py").write_text(served_controls.AGENT)
    (evals / "agents" / "provider.py").write_text(Path(provider.__file__).read_text())
    if place.image is not None:
        (evals / "stack.yaml").write_text(_COMPOSE.format(image=place.image, port=provider.PORT))
    (evals / "sessions").mkdir()
    for cell in sessions:
        asked = session(said("user", _deed(cell).case.get("input", "go")))
        (evals / "sessions" / f"{cell.case_id}.json").write_text(json.dumps(asked))
    streams = {cell.case_id: stream for cell in CASES if (stream := _deed(cell).stream) is not None}
    # its provider has the name of a service: nothing of it is outside of the closed network, and nothing is asked
    write_agent(root, streams, text=AGENT.replace("http://127.0.0.1:9/", "http://nowhere:9/"))
    return evals


def _deed(cell: Cell) -> Deed:
    assert isinstance(cell.deed, Deed)
    return cell.deed


def _case(cell: Cell) -> dict[str, Any]:
    return {"id": cell.case_id, "expect": SAYS_DONE, **_deed(cell).case}


def _rules() -> list[dict[str, Any]]:
    always = {"wait": _SLOW, "flood": _MUCH}
    told = [(cell.case_id, always[_deed(cell).does]) for cell in CASES if _deed(cell).does in always]
    return [
        *({"when": {"case": case}, "reply": reply} for case, reply in told),
        {"when": {"text": "^broken$"}, "reply": _BROKEN},
    ]


def _settings(place: Place, judge_url: str) -> str:
    judge = f'sessions = "sessions"\njudge_model = "openai/judge"\njudge_url = "{judge_url}"\n'
    return settings_of(
        CONTROLS,
        MISSING,
        TALKER,
        agent_table("modelled", "command", command=PROGRAM, model="scripted/talker"),
        agent_table("outside", "chat", model="openai/some", model_url=place.provider_url),
        SERVED,
        served_table("served-modelled", model="scripted/talker"),
        agent_table("desk", "docker-agent", file=FILE),
        agent_table("bound", "docker-agent", file=FILE, fixture_tools=True),
        agent_table("scripted-desk", "docker-agent", file=FILE, model="scripted/talker"),
        begin=judge + ('compose_files = ["stack.yaml"]\n' if place.image else ""),
        setup_seconds=5,
    )


def unstartable_program(folder: Path) -> dict[str, str]:
    """An environment whose `docker-agent` says its version and then cannot be started: its interpreter is gone."""
    folder.mkdir()
    interpreter, program = folder / "interpreter", folder / "docker-agent"
    interpreter.symlink_to(sys.executable)
    program.write_text(
        f"#!{interpreter}\nimport os\nprint('docker-agent version v0.0.0-gone')\nos.unlink('{interpreter}')\n"
    )
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def small_runtime(path: Path) -> Path:
    """A program like docker, whose containers have a disk for attempts that is full at once."""
    small = "[re.sub('^(/work:.*nr_inodes=)[0-9]+', '\\\\g<1>1', one) for one in sys.argv[1:]]"
    path.write_text(f"#!{sys.executable}\nimport os, re, sys\nos.execvp('docker', ['docker', *{small}])\n")
    path.chmod(0o755)
    return path
