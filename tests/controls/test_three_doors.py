"""One refund desk, three doors: the chat agent's calls made again over HTTP and over MCP meet the same world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from contracts.suite.loading import load_suite
from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import call_headers, encode_call
from tests.controls.lab_processes import SAMPLE, run_suite
from tests.fakes.fixture_process import FixtureProcess

CASES = ("refund-approval-required", "approval-after-waiting", "refund-only-once", "unknown-order")
OF_THE_DOOR = ("via", "attempt", "sequence")
Call = tuple[str, dict[str, Any]]
BINDINGS: dict[str, ToolHttp] = {tool.name: tool.http for tool in load_suite(SAMPLE).tools if tool.http}


@pytest.fixture(scope="module")
def by_chat(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Call], list[dict[str, Any]]]]:
    """The calls of the chat agent and their rows, by case."""
    ran = run_suite(SAMPLE, work=tmp_path_factory.mktemp("work"), agent="support", cases=CASES)
    calls = {
        case: [(call.tool, call.arguments or {}) for call in record.trajectory] for case, record in ran.records.items()
    }
    return {case: (calls[case], without_the_door(ran.journals[case])) for case in CASES}


def without_the_door(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of tools, without what tells of the door and of the model's requests in between."""
    of_tools = [row for row in rows if row["via"] != "model"]
    return [{key: row[key] for key in row if key not in OF_THE_DOOR and row[key] is not None} for row in of_tools]


def over_http(api: FixtureProcess, prefix: str, calls: list[Call]) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{api.data_port}{prefix}") as client:
        for name, arguments in calls:
            target, body = encode_call(BINDINGS[name], arguments)
            client.request(BINDINGS[name].method, target, content=body, headers=call_headers(body))


def over_mcp(api: FixtureProcess, prefix: str, calls: list[Call]) -> None:
    async def session() -> None:
        url = f"http://127.0.0.1:{api.data_port}{prefix}/mcp"
        async with Client(streamable_http_client(url)) as client:
            for name, arguments in calls:
                await client.call_tool(name, arguments)

    asyncio.run(session())


@pytest.mark.parametrize("case", CASES)
def test_equal_calls_have_equal_journals_and_leave_equal_states_whatever_the_door(
    by_chat: dict[str, tuple[list[Call], list[dict[str, Any]]]], case: str
) -> None:
    calls, rows = by_chat[case]
    assert calls
    doors: list[Callable[[FixtureProcess, str, list[Call]], None]] = [over_http, over_mcp]
    states = []
    with FixtureProcess(Path(SAMPLE)) as api:
        for attempt, door in enumerate(doors, 1):
            door(api, api.open(case, attempt), calls)
            closed = api.close(case, attempt)
            assert without_the_door([one["row"] for one in closed["served"]]) == rows
            assert {one["row"]["via"] for one in closed["served"]} == {("http", "mcp")[attempt - 1]}
            states.append(closed["state"])
    assert states[0] == states[1]
