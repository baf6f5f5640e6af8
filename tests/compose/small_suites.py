"""Small suites of one command agent, written for one test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fakes.suite_folder import SuiteFolder

EXPECTS_THE_ANSWER = {"assertions": [{"type": "contains", "value": "the answer"}]}
EXPECTATION_MARKER = "expected-0f6e1b"
"""What only expectations have."""
_AGENTS = Path(__file__).with_name("agents")
_SETTINGS = """\
revision = "fixtures-1"
clock = "2026-09-01T12:00:00Z"
default_agent = "small"

[agents.small]
adapter = "command"
command = ["python3", "{suite}/agents/desk.py"]

[agents.missing]
adapter = "command"
command = ["/no/such/program"]

[limits]
seconds = 500
output_bytes = 200000
"""
_SMALL_LIMITS = "[limits]\nmemory_mb = 256\npids = 128\ntool_calls = 5000"


def small_suite(root: Path, agent: str, *, cases: Sequence[dict[str, Any]]) -> Path:
    """A suite whose agent `small` is agents/AGENT.py; its agent `missing` cannot be started."""
    folder = SuiteFolder(
        root,
        settings=_SETTINGS,
        cases=[{"input": "hello", "expect": EXPECTS_THE_ANSWER, **case} for case in cases],
        texts={"agents/desk.py": (_AGENTS / f"{agent}.py").read_text()},
    )
    return folder.write()


def waiting_suite(root: Path, *ids: str) -> Path:
    """One case for each id: the agent answers at once, but `slow…` waits for /tmp/go-on-RUN where the agent is."""
    return small_suite(root, "waiting", cases=[{"id": name} for name in ids])


def hostile_suite(root: Path, cases: Sequence[dict[str, Any]]) -> Path:
    """Cases of agents/hostile.py, which expect its answer and that something is not there; small limits."""
    hidden = {"type": "not_contains", "value": EXPECTATION_MARKER}
    expect = {"assertions": [*EXPECTS_THE_ANSWER["assertions"], hidden]}
    suite = small_suite(root, "hostile", cases=[{"expect": expect, **case} for case in cases])
    (suite / "agents" / "inside.py").write_text((_AGENTS / "inside.py").read_text())
    text = (suite / "suite.toml").read_text()
    (suite / "suite.toml").write_text(text.replace("[limits]", _SMALL_LIMITS))
    return suite


def prying_suite(root: Path) -> Path:
    """Two cases that any answer fulfils, also one that no route answered: `victim` and `prying`."""
    expect = {"assertions": [{"type": "not_contains", "value": EXPECTATION_MARKER}], "unmatchedRequests": "allow"}
    return small_suite(root, "prying", cases=[{"id": name, "expect": expect} for name in ("victim", "prying")])
