"""One refund desk, three doors: the chat agent's calls made again over HTTP and over MCP meet the same world."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from contracts.suite.loading import load_suite
from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import call_headers, encode_call
from runner.json_values import digest_of_any
from tests.controls.lab_processes import SAMPLE, run_suite
from tests.fakes.fixture_process import FixtureProcess

CASES = ("refund-approval-required", "approval-after-waiting", "refund-only-once", "unknown-order")
OF_THE_DOOR = ("via", "attempt", "sequence")
REFUNDING = frozenset(CASES) - {"unknown-order"}
READ_BACK = "/refunds-made"
Call = tuple[str, dict[str, Any]]
BINDINGS: dict[str, ToolHttp] = {tool.name: tool.http for tool in load_suite(SAMPLE).tools if tool.http}


class Chat(NamedTuple):
    """What the chat agent did in a case."""

    calls: list[Call]
    rows: list[dict[str, Any]]
    state_digest: str | None


@pytest.fixture(scope="module")
def by_chat(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Chat]:
    """By case."""
    ran = run_suite(SAMPLE, work=tmp_path_factory.mktemp("work"), agent="support", cases=CASES)
    return {
        case: Chat(
            calls=[(call.tool, call.arguments or {}) for call in ran.records[case].trajectory],
            rows=without_the_door(ran.journals[case]),
            state_digest=ran.records[case].state_digest,
        )
        for case in CASES
    }


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample suite with one more route, which shows what refunds have written."""
    folder = tmp_path_factory.mktemp("desk") / "suite"
    shutil.copytree(SAMPLE, folder)
    routes = json.loads((folder / "routes.json").read_text())
    shows = {"id": "read-back", "method": "GET", "path": READ_BACK, "responses": [{"json": {"$state": "/refunds"}}]}
    (folder / "routes.json").write_text(json.dumps({"routes": [*routes["routes"], shows]}))
    return folder


def written(chat: Chat) -> list[dict[str, Any]]:
    """The refunds that the calls must have left in the state."""
    answered = zip(chat.calls, chat.rows, strict=True)
    refunds = [arguments for (name, arguments), row in answered if name == "issue_refund" and row["status"] == 201]
    return [{key: one[key] for key in ("order_id", "amount", "approval_id")} for one in refunds]


def refunds_shown(api: FixtureProcess, prefix: str) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = httpx.get(f"http://127.0.0.1:{api.data_port}{prefix}{READ_BACK}").json()
    return shown


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
    by_chat: dict[str, Chat], desk: Path, case: str
) -> None:
    chat = by_chat[case]
    assert chat.calls
    assert bool(written(chat)) == (case in REFUNDING)
    doors: list[Callable[[FixtureProcess, str, list[Call]], None]] = [over_http, over_mcp]
    states = []
    with FixtureProcess(desk) as api:
        for attempt, door in enumerate(doors, 1):
            prefix = api.open(case, attempt)
            before = refunds_shown(api, prefix)
            door(api, prefix, chat.calls)
            assert refunds_shown(api, prefix) == before + written(chat)
            closed = api.close(case, attempt)
            made = [one["row"] for one in closed["served"][1:-1]]
            assert without_the_door(made) == chat.rows
            assert {row["via"] for row in made} == {("http", "mcp")[attempt - 1]}
            states.append(closed["state"])
    assert states[0] == states[1]
    assert states[0]["refunds"] == before + written(chat)
    assert digest_of_any(states[0]) == chat.state_digest
