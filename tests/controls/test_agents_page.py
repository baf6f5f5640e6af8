"""The examples of docs/agents.md are agents that run as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contracts.outcome import Outcome
from tests.controls.lab_processes import ROOT, run_suite
from tests.fakes.suite_folder import SuiteFolder

PAGE = (ROOT / "docs" / "agents.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
PROGRAMS = {re.findall(r"agents/(\w+)\.py", text)[0]: text for kind, text in BLOCKS if kind == "python"}
ROUTE = {
    "id": "order",
    "method": "GET",
    "path": "/orders/a-1001",
    "responses": [{"json": {"status": "delivered"}}],
}
CASE = {
    "id": "greets",
    "input": [{"role": "user", "content": "Hello."}, {"role": "user", "content": "Bye."}],
    "expect": {"assertions": [{"type": "contains", "value": "Hello."}, {"type": "contains", "value": "Bye."}]},
}


def settings_of(name: str, text: str) -> str:
    """The table that the example's first line names."""
    command = re.findall(r"command = (\[.*?\])", text)[0]
    url = re.findall(r'url = (".*?")', text)
    lines = ["[agents.shown]", f'adapter = "{"http" if url else "command"}"', f"command = {command}"]
    return "\n".join([*lines, *(f"url = {one}" for one in url)]) + "\n"


def test_the_page_shows_a_program_and_a_service() -> None:
    assert set(PROGRAMS) == {"clerk", "served"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_runs_as_it_stands_and_is_short(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name]
    folder = SuiteFolder(
        tmp_path / "suite",
        settings=settings_of(name, text),
        cases=[CASE],
        routes=[ROUTE],
        texts={f"agents/{name}.py": text},
    )

    ran = run_suite(folder.write(), work=tmp_path)

    record = ran.records["greets"]
    assert (record.outcome, record.reason) == (Outcome.PASS, None)
    assert len([line for line in text.splitlines() if line.strip()]) <= 14


def test_the_events_of_the_page_are_those_that_are_read() -> None:
    from runner.agents import event_lines  # noqa: PLC0415 - its table is what the page is about

    shown: list[dict[str, Any]] = [{"type": name} for name in re.findall(r'^\| `\{"type": "(\w+)"', PAGE, re.MULTILINE)]
    assert json.dumps([event["type"] for event in shown]) == json.dumps(list(event_lines._TAKERS))
