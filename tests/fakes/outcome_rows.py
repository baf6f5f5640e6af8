"""The outcome table of CONTRACT §4: for each row and adapter an agent's deed, or why there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.fakes import served_controls
from tests.fakes.control_suites import LOOKUP_CALL, RULES, SAYS_DONE, TOOLS, write_controls

ADAPTERS = ("chat", "command", "http")


class Deed(NamedTuple):
    """What an agent does in its case."""

    agent: str
    does: str
    """The last part of the case's id: command and http agents act by it."""
    case: dict[str, Any]


class Row(NamedTuple):
    """One line of the table, or one of the ways into it."""

    what: str
    outcome: str
    outcome_class: str | None
    deeds: dict[str, Deed | str]
    """By adapter; a text says why the row is not for it."""


def _chat(says: str, **case: Any) -> Deed:
    return Deed("talker", says, {"input": says, **case})


def _command(does: str, **case: Any) -> Deed:
    return Deed("controls", does, case)


def _http(does: str, **case: Any) -> Deed:
    return Deed("served", does, case)


LOOKS_UP = {"toolCalls": [LOOKUP_CALL], "toolMatch": "strict"}
SHORT = {"limits": {"seconds": 1}}
SCRIPTED = "the lab's own loop says what it does itself; a scripted model costs nothing and is never outside"
ROWS = (
    Row(
        "checks all hold",
        "pass",
        None,
        {
            "chat": _chat("talk"),
            "command": _command("is-right", expect=LOOKS_UP),
            "http": _http("is-right", expect=LOOKS_UP),
        },
    ),
    Row(
        "a check does not hold",
        "fail",
        None,
        {
            "chat": _chat("talk", expect={"toolCalls": [{"name": "lookup"}]}),
            "command": _command("says-nothing"),
            "http": _http("says-nothing"),
        },
    ),
    Row(
        "it fails by itself",
        "fail",
        "agent-error",
        {"chat": _chat("fail"), "command": _command("crashes"), "http": _http("answers-500")},
    ),
    Row(
        "it breaks the protocol",
        "fail",
        "agent-error",
        {"chat": SCRIPTED, "command": _command("breaks-the-protocol"), "http": _http("breaks-the-protocol")},
    ),
    Row(
        "it is gone in the middle",
        "fail",
        "agent-error",
        {"chat": SCRIPTED, "command": _command("dies-of-a-signal"), "http": _http("is-cut-off-in-a-chunk")},
    ),
    Row(
        "it reports an error",
        "fail",
        "agent-error",
        {"chat": SCRIPTED, "command": _command("reports-an-error"), "http": _http("reports-an-error")},
    ),
    Row(
        "past its time",
        "fail",
        "limit",
        {"chat": _chat("slow", **SHORT), "command": _command("hangs", **SHORT), "http": _http("hangs", **SHORT)},
    ),
    Row(
        "past its tool calls",
        "fail",
        "limit",
        {
            "chat": _chat("call", limits={"tool_calls": 2}),
            "command": _command("loops-on-tools"),
            "http": _http("loops-on-tools"),
        },
    ),
    Row(
        "past its model calls",
        "fail",
        "limit",
        {
            "chat": _chat("loop"),
            "command": Deed("modelled", "loops-on-the-model", {}),
            "http": Deed("served-modelled", "loops-on-the-model", {}),
        },
    ),
    Row(
        "past its cost",
        "fail",
        "limit",
        {
            "chat": SCRIPTED,
            "command": _command("spends-too-much", limits={"cost_usd": 0.5}),
            "http": _http("spends-too-much", limits={"cost_usd": 0.5}),
        },
    ),
    Row(
        "past its output",
        "fail",
        "limit",
        {"chat": SCRIPTED, "command": _command("floods"), "http": _http("floods")},
    ),
    Row(
        "it cannot be started",
        "unknown",
        "infrastructure",
        {
            "chat": SCRIPTED,
            "command": Deed("missing", "cannot-be-started", {}),
            "http": "one process for the whole run: exit 4 agent-not-reachable before any attempt",
        },
    ),
    Row(
        "its model's provider failed",
        "unknown",
        "provider",
        {"chat": SCRIPTED, "command": _command("blames-its-provider"), "http": _http("blames-its-provider")},
    ),
    Row(
        "an effect of the suite could not apply",
        "unknown",
        "suite",
        {
            "chat": _chat("broken"),
            "command": _command("meets-a-broken-suite"),
            "http": _http("meets-a-broken-suite"),
        },
    ),
)
ELSEWHERE = {
    "the fixture API died": "test_outcome_rows.py: one run for each adapter",
    "never started": "test_suite_timeout.py and the runs of test_outcome_rows.py",
    "a session that expects nothing": "session suites only",
    "setup failed": "container isolation only",
    "the judge": "the driver's part; no adapter is in it",
    "faults": "the profile fault",
}
"""Rows of §4 that no single deed of an agent brings about."""
SETTINGS = """\
clock = "2026-09-01T12:00:00Z"

[agents.talker]
adapter = "chat"
model = "scripted/talker"

[agents.controls]
adapter = "command"
command = ["python3", "{suite}/agents/controls.py"]

[agents.modelled]
adapter = "command"
command = ["python3", "{suite}/agents/controls.py"]
model = "scripted/talker"

[agents.missing]
adapter = "command"
command = ["/nowhere/agent"]

[agents.served]
adapter = "http"
command = ["python3", "{suite}/agents/served.py"]
url = "http://localhost:{port}/answer"

[agents.served-modelled]
adapter = "http"
command = ["python3", "{suite}/agents/served.py"]
url = "http://localhost:{port}/answer"
model = "scripted/talker"

[limits]
seconds = 120
tool_calls = 20
model_calls = 5
output_bytes = 1_000_000
"""
_MORE_RULES = [
    {"when": {"text": "slow"}, "reply": {"toolCalls": [{"name": "lookup", "arguments": {"id": "slow"}}]}},
    {"when": {"text": "broken"}, "reply": {"toolCalls": [{"name": "lookup", "arguments": {"id": "broken"}}]}},
]


def cells() -> Iterator[tuple[int, str, Deed]]:
    """Every deed: the index of its row, its adapter and itself."""
    for index, row in enumerate(ROWS):
        for adapter, deed in row.deeds.items():
            if isinstance(deed, Deed):
                yield index, adapter, deed


def case_id_of(index: int, deed: Deed) -> str:
    """The id of the case in which it is done."""
    return f"row-{index}.{deed.agent}.{deed.does}"


AGENTS = tuple(sorted({deed.agent for _, _, deed in cells()}))


def cases_of(agent: str) -> tuple[str, ...]:
    """Ids of the cases that an agent is for."""
    return tuple(case_id_of(index, deed) for index, _, deed in cells() if deed.agent == agent)


def write_outcome_rows(root: Path) -> Path:
    """The suite of all deeds below `root`, which it returns."""
    cases = [{"id": case_id_of(index, deed), "expect": SAYS_DONE, **deed.case} for index, _, deed in cells()]
    write_controls(root, cases, settings=SETTINGS)
    (root / "agents" / "served.py").write_text(served_controls.AGENT)
    (root / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (root / "models" / "talker.json").write_text(json.dumps({"rules": [*_MORE_RULES, *RULES]}))
    return root
