"""An agent folder whose program replays a stream for each case: every way in which a docker-agent run can end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.fakes.control_suites import ROUTES, TOOLS
from tests.fakes.docker_agent_streams import Event, answers, asks, begins, called, ends, refused, says, spends, text_of

PROGRAMS = Path(__file__).parent / "docker_agent"
"""Holds the program `docker-agent`."""

AGENT = """\
# an agent with a helper
version: "8"
models:
  main: &main
    provider: mock
    model: scripted
    temperature: 0.5
    max_tokens: 200
agents:
  root:
    model: main
    description: "answers"  # said to nobody
    instruction: |
      Be brief.
    toolsets: &tools
      - type: filesystem
    sub_agents: [helper]
  helper:
    model: mock/other
    instruction: Help.
    toolsets: *tools
providers:
  mock: {base_url: "http://127.0.0.1:9/v1", api_type: openai_chatcompletions}
"""

LIVE_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("list_directory", "read_file", "shell", "nope")
]
FAILED = "Error: model failed: error receiving from stream: "
SAID = [*begins("go"), *says("do", "ne"), *spends(0.25), *ends()]
DONE = {"assertions": [{"type": "equals", "value": "done"}]}


def replay(
    *events: Event, stderr: str = "", exit_code: int = 0, act: str | None = None, more: str = ""
) -> dict[str, Any]:
    """What the program does for one case."""
    return {"stdout": text_of(events) + more, "stderr": stderr, "exit": exit_code, "act": act}


LIST = called("list_directory", {"path": "./"})
UNKNOWN = [asks("nope"), answers("nope", "Tool 'nope' is not available. You can only …", is_error=True)]

CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "right": ({"expect": {**DONE, "toolCalls": [{"name": "list_directory"}]}}, replay(*LIST, *SAID)),
    "wrong": ({"expect": {**DONE, "toolCalls": [{"name": "read_file"}]}}, replay(*LIST, *SAID)),
    "two-turns": (
        {"input": [{"role": "user", "content": "one"}, {"role": "user", "content": "-two"}], "expect": DONE},
        replay(*says("do"), *ends(), *says("ne"), *ends()),
    ),
    "unknown-tool": ({"expect": {"toolCalls": [{"name": "nope"}]}}, replay(*UNKNOWN, *SAID)),
    "denied": ({"expect": {"deniedTools": ["shell"]}}, replay(*refused("shell", {"cmd": "rm"}), *SAID)),
    "let-through": ({"expect": {"deniedTools": ["shell"]}}, replay(*called("shell", {"cmd": "rm"}), *SAID)),
    "exits-1-after-a-full-answer": ({"expect": DONE}, replay(*SAID, stderr="Error: no such tool\n", exit_code=1)),
    "killed-after-a-full-answer": ({"expect": DONE}, replay(*SAID, act="kill")),
    "no-events": ({"expect": DONE}, {"stdout": "", "act": None, "exit": 0, "quiet": True}),
    "broken-event": ({"expect": DONE}, replay(*SAID, more='{"type":"tool_call"}\n')),
    "provider-401": ({"expect": DONE}, replay(*begins("x"), stderr=f"{FAILED}HTTP 401: no\n", exit_code=1)),
    "provider-500": ({"expect": DONE}, replay(*SAID, stderr=f"{FAILED}HTTP 500: no\n", exit_code=1)),
    "provider-network": (
        {"expect": DONE},
        replay(*begins("x"), stderr=f'{FAILED}Post "http://x": dial tcp: connection refused\n', exit_code=1),
    ),
    "bad-request": ({"expect": DONE}, replay(*begins("x"), stderr=f"{FAILED}HTTP 400: 500 words\n", exit_code=1)),
    "killed-at-its-provider": ({"expect": DONE}, replay(*SAID, stderr=f"{FAILED}HTTP 500: no\n", act="kill")),
    "hangs": ({"expect": DONE, "limits": {"seconds": 5}}, replay(*SAID, act="hang")),
    "floods": ({"expect": DONE}, replay(*SAID, act="flood")),
    "too-many-calls": ({"expect": DONE, "limits": {"tool_calls": 1}}, replay(*LIST, *LIST, *SAID, act="hang")),
    "too-dear": ({"expect": DONE, "limits": {"cost_usd": 0.1}}, replay(*SAID, act="hang")),
    "too-long-for-the-kernel": (
        {"input": [{"role": "user", "content": "x" * 200_000}, {"role": "user", "content": "y"}], "expect": DONE},
        replay(*SAID),
    ),
    "long-message": ({"input": "x" * 200_000, "expect": DONE}, replay(*SAID)),
}
"""Case to what cases.json says of it and what the program does."""

BOUND_CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "made": (
        {"expect": {"toolCalls": [{"name": "lookup", "arguments": {"id": "1"}}], "toolMatch": "strict"}},
        replay(*called("lookup", {"id": "1"}), *SAID, act="mcp"),
    ),
    "claimed-only": ({"expect": {"toolCalls": [{"name": "lookup"}]}}, replay(*called("lookup", {"id": "1"}), *SAID)),
    "denied-bound": ({"expect": {"deniedTools": ["pay"], "toolCalls": []}}, replay(*refused("pay"), *SAID)),
    "suite-effect": ({"expect": DONE}, replay(*called("lookup", {"id": "broken"}), *SAID, act="mcp")),
}


def write_agent_folder(
    root: Path,
    cases: dict[str, tuple[dict[str, Any], dict[str, Any]]],
    *,
    settings: str = "[limits]\noutput_bytes = 1_000_000\nseconds = 60\n",
) -> Path:
    """The agent file, its streams and `evals/` with a suite; the path of the file."""
    evals = root / "evals"
    evals.mkdir(parents=True)
    (root / "notes.md").write_text("notes\n")
    (evals / "suite.toml").write_text(settings)
    written = [{"id": name, "input": "go", **case} for name, (case, _) in cases.items()]
    (evals / "cases.json").write_text(json.dumps({"cases": written}))
    (evals / "tools.json").write_text(json.dumps({"tools": [*TOOLS, *LIVE_TOOLS]}))
    (evals / "routes.json").write_text(json.dumps({"routes": ROUTES}))
    (evals / "state.json").write_text(json.dumps({"payments": []}))
    return write_agent(root, {name: stream for name, (_, stream) in cases.items()})


def write_agent(root: Path, streams: dict[str, dict[str, Any]], *, text: str = AGENT) -> Path:
    """The agent file, and beside it what its program replays for each case; the path of the file."""
    (root / "streams").mkdir(parents=True)
    (root / "agent.yaml").write_text(text)
    for name, stream in streams.items():
        (root / "streams" / f"{name}.json").write_text(json.dumps(stream))
    return root / "agent.yaml"


def with_program(**more: str) -> dict[str, str]:
    """An environment in which `docker-agent` is the replaying program."""
    return {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", **more}
