"""MCP over real HTTP with the official client, and with raw messages where bytes matter."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import encode_call
from tests.fakes.fixture_process import DataClient, FixtureProcess, Reply
from tests.fakes.mcp_suite import (
    ACCEPT,
    BOUND,
    CLIENT,
    ROUTES,
    STATE,
    TOOLS,
    call_of,
    message,
    post,
)
from tests.fakes.open_world import case
from tests.fakes.suite_folder import SuiteFolder

MODES = ["auto", "legacy", "2026-07-28"]
"""The client's: both generations of the protocol, and the choice between them."""

FLOW: list[tuple[str, dict[str, Any]]] = [
    ("order", {"id": "a-1"}),
    ("refund", {"amount": 3}),
    ("refund", {"amount": 4}),
    ("refund", {}),
    ("order", {"id": "a/ä"}),
    ("slow", {}),
    ("broken", {}),
    ("picture", {"size": 1.5}),
    ("forget", {"id": "a-1"}),
]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "suite"
    never = {"responses": [{"route": "order", "kind": "timeout", "times": 1}]}
    late = {"responses": [{"route": "order", "kind": "timeout", "value": 200, "times": 1}]}
    cases = [
        case("one"),
        case("two", state={"orders": {"a-1": {"amount": 9}}}),
        case("late", faults=late),
        case("never", faults=never),
    ]
    return SuiteFolder(folder, cases=cases, routes=ROUTES, tools=TOOLS, state=STATE).write()


def connected(api: FixtureProcess, prefix: str, mode: Any = "auto") -> Client:
    return Client(f"http://127.0.0.1:{api.data_port}{prefix}/mcp", mode=mode)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def over_http(client: DataClient, prefix: str, name: str, arguments: dict[str, Any]) -> Reply:
    http = next(ToolHttp(**one["http"]) for one in TOOLS if one["function"]["name"] == name)
    target, body = encode_call(http, arguments)
    sent = None if body is None else json.loads(body)
    return client.ask(http.method, prefix + target, sent, accept="application/json")


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_and_calls_the_bound_tools(api: FixtureProcess, mode: str) -> None:
    prefix = api.open("one", 1)

    async def session() -> None:
        async with connected(api, prefix, mode) as client:
            listed = (await client.list_tools()).tools
            assert [one.name for one in listed] == BOUND
            order = await client.call_tool("order", {"id": "a-1"})
            assert (text_of(order), order.is_error) == ('{"amount":5}', False)
            replies = [await client.call_tool("refund", {"amount": amount}) for amount in (1, 2, 3)]
            assert [json.loads(text_of(reply))["n"] for reply in replies] == [1, 2, 2]
            missing = await client.call_tool("order", {"id": "none"})
            assert missing.is_error
            assert json.loads(text_of(missing))["status"] == 404
            unsent = await client.call_tool("order", {})
            assert (text_of(unsent), unsent.is_error) == ("The call was not made: no argument id.", True)
            with pytest.raises(MCPError, match="Unknown tool: think"):
                await client.call_tool("think", {})

    asyncio.run(session())
    closed = api.close("one", 1)
    rows = [(row["tool"], row["via"], row["status"]) for row in (one["row"] for one in closed["served"])]
    assert rows == [
        ("order", "mcp", 200),
        *[("refund", "mcp", 201)] * 3,
        *[("order", "mcp", status) for status in (404, 400)],
    ]
    assert closed["state"]["refunds"] == [1, 2, 3]


def test_a_flow_leaves_equal_journals_over_mcp_and_over_http_but_for_the_door(
    api: FixtureProcess, client: DataClient
) -> None:
    by_mcp, by_http = api.open("one", 2), api.open("one", 3)

    async def session() -> None:
        async with connected(api, by_mcp) as mcp:
            for name, arguments in FLOW:
                await mcp.call_tool(name, arguments)

    asyncio.run(session())
    for name, arguments in FLOW:
        over_http(client, by_http, name, arguments)
    closed = [api.close("one", attempt) for attempt in (2, 3)]
    doors = [{served["row"].pop("via") for served in one["served"]} for one in closed]
    assert doors == [{"mcp"}, {"http"}]
    for one in closed:
        assert len(one["served"]) == len(FLOW)
        for served in one["served"]:
            del served["row"]["attempt"]
    assert closed[0] == closed[1]


def test_attempts_side_by_side_do_not_see_each_other(api: FixtureProcess) -> None:
    async def session(number: int, prefix: str) -> list[str]:
        async with connected(api, prefix, MODES[number % 2]) as client:
            texts = [text_of(await client.call_tool("order", {"id": "a-1"}))]
            return [*texts, *[text_of(await client.call_tool("refund", {"amount": number})) for _ in range(3)]]

    async def sessions(prefixes: dict[int, str]) -> list[list[str]]:
        return await asyncio.gather(*(session(number, prefix) for number, prefix in prefixes.items()))

    prefixes = {number: api.open("one" if number % 2 else "two", number) for number in range(10, 26)}
    for number, texts in zip(prefixes, asyncio.run(sessions(prefixes)), strict=True):
        assert texts == [f'{{"amount":{5 if number % 2 else 9}}}', '{"n":1}', '{"n":2}', '{"n":2}']
        closed = api.close("one" if number % 2 else "two", number)
        assert closed["state"]["refunds"] == [number] * 3
        assert [served["row"]["sequence"] for served in closed["served"]] == [1, 2, 3, 4]


def test_the_header_selects_a_case_by_hand(api: FixtureProcess) -> None:
    async def session() -> str:
        async with (
            httpx2.AsyncClient(headers={"x-eval-case": "two"}) as http,
            Client(
                streamable_http_client(f"http://127.0.0.1:{api.data_port}/mcp", http_client=http), mode="legacy"
            ) as client,
        ):
            return text_of(await client.call_tool("order", {"id": "a-1"}))

    assert asyncio.run(session()) == '{"amount":9}'


def test_a_breach_of_the_tool_limit_is_told_and_journaled_once(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 30, toolCallLimit=1)
    first, *over = [post(client, prefix, call_of("order", id="a-1")).json()["result"] for _ in range(3)]
    assert not first["isError"]
    assert [json.loads(one["content"][0]["text"])["status"] for one in over] == [429, 429]
    closed = api.close("one", 30)
    assert closed["breached"] == "tool_calls"
    assert [served["row"]["status"] for served in closed["served"]] == [200, 429]


def test_the_delay_of_a_response_is_waited(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 31)
    begun = time.monotonic()
    assert post(client, prefix, call_of("slow")).json()["result"]["content"][0]["text"] == "slöw"
    assert time.monotonic() - begun >= 0.3
    assert [served["row"]["delayMs"] for served in api.close("one", 31)["served"]] == [300]


@pytest.mark.parametrize("mode", MODES)
def test_a_planned_time_out_ends_the_official_clients_whole_session(api: FixtureProcess, mode: str) -> None:
    prefix = api.open("late", 33, faults=True)
    seen: list[BaseException] = []

    async def session() -> None:
        async with connected(api, prefix, mode) as client:
            for name, arguments in (("order", {"id": "a-1"}), ("refund", {"amount": 1})):
                try:
                    await client.call_tool(name, arguments)
                except (asyncio.CancelledError, MCPError) as error:
                    seen.append(error)

    with pytest.raises(ExceptionGroup) as ended:
        asyncio.run(session())
    assert ended.group_contains(httpx2.RemoteProtocolError, match="Server disconnected")
    assert isinstance(seen[0], asyncio.CancelledError)
    assert len(seen) == 2  # the call after it failed too, and was never sent
    rows = [(served["row"]["status"], served["row"]["fault"]) for served in api.close("late", 33)["served"]]
    assert rows == [(0, "timeout#0")]


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_gives_up_before_a_planned_time_out_keeps_its_session(api: FixtureProcess, mode: str) -> None:
    prefix = api.open("never", 34, faults=True)

    async def session() -> str:
        async with connected(api, prefix, mode) as client:
            with pytest.raises(MCPError, match="timed out"):
                await client.call_tool("order", {"id": "a-1"}, read_timeout_seconds=0.3)
            return text_of(await client.call_tool("order", {"id": "a-1"}))

    assert asyncio.run(session()) == '{"amount":5}'
    rows = [(served["row"]["status"], served["row"]["fault"]) for served in api.close("never", 34)["served"]]
    assert rows == [(0, "timeout#0"), (200, None)]


def test_handshakes_are_in_no_journal_and_count_for_nothing(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 32, toolCallLimit=0)
    sent = [message("initialize", CLIENT), message("ping"), message("tools/list")]
    assert [post(client, prefix, one).status for one in sent] == [200, 200, 200]
    initialized = post(client, prefix, message("notifications/initialized", message_id=None))
    assert (initialized.status, initialized.body) == (202, b"")
    closed = api.close("one", 32)
    assert (closed["served"], closed["breached"]) == ([], None)


RAW: list[tuple[Any, int, dict[str, str]]] = [
    ([], 400, {}),
    ([message("ping")], 400, {}),
    ({}, 400, {}),
    ("ping", 400, {}),
    (message("nonsense"), 200, {}),
    (message("tools/call", {"name": 5}), 200, {}),
    (message("tools/call", {"name": "order", "arguments": []}), 200, {}),
    (message("ping"), 406, {"accept": "text/html"}),
    (message("ping"), 400, {"mcp-protocol-version": "1999-01-01"}),
    (message("ping"), 400, {"mcp-protocol-version": "2026-07-28"}),
    ({"jsonrpc": "2.0", "id": 1, "result": {}}, 202, {}),
]


@pytest.mark.parametrize(("sent", "status", "headers"), RAW)
def test_a_message_that_the_protocol_refuses_is_refused_as_the_protocol_says(
    api: FixtureProcess, client: DataClient, sent: Any, status: int, headers: dict[str, str]
) -> None:
    prefix = api.open("one", 33)
    assert post(client, prefix, sent, **headers).status == status
    assert api.close("one", 33)["served"] == []


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("{", "application/json", 400),
        ("", "application/json", 400),
        ("[" * 100_000, "application/json", 400),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', "text/plain", 400),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":"' + "x" * 8 * 1024 * 1024 + '"}', "application/json", 413),
        ('{"jsonrpc":"2.0","id":1,"method":"none","params":{"x":"' + "x" * 7_000_000 + '"}}', "application/json", 200),
    ],
    ids=["half", "empty", "deep", "plain", "huge", "large"],
)
def test_a_body_that_is_no_message_is_refused(
    api: FixtureProcess, client: DataClient, body: str, content_type: str, status: int
) -> None:
    client._connection.request(
        "POST", "/mcp", body, {"x-eval-case": "one", "accept": ACCEPT, "content-type": content_type}
    )
    response = client._connection.getresponse()
    response.read()
    assert response.status == status
    assert post(client, "", message("ping"), x_eval_case="one").json()["result"] == {}


def test_there_is_no_stream_to_get_and_no_session_to_delete(client: DataClient) -> None:
    for method in ("GET", "DELETE"):
        reply = client.ask(method, "/mcp", accept="text/event-stream", x_eval_case="one")
        assert (reply.status, dict(reply.headers)["allow"]) == (405, "POST")


def replies_of(suite: Path, seed: str) -> list[Reply]:
    with FixtureProcess(suite, PYTHONHASHSEED=seed) as process:
        prefix, client = process.open("one"), process.client()
        modern = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        versioned = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
        replies = [
            post(client, prefix, message("initialize", CLIENT)),
            post(client, prefix, message("tools/list")),
            post(client, prefix, message("tools/list", {"_meta": modern}), **versioned),
            *(post(client, prefix, call_of(name, **arguments)) for name, arguments in FLOW),
            *(post(client, prefix, sent, **headers) for sent, _, headers in RAW),
            client.ask("GET", f"{prefix}/mcp"),
        ]
        assert all(prefix[2:].encode() not in reply.body for reply in replies)
        return replies


def test_equal_messages_to_equal_worlds_get_equal_bytes(suite: Path) -> None:
    first, second = replies_of(suite, "1"), replies_of(suite, "2")
    assert first == second
    names = {name for reply in first for name, _ in reply.headers}
    assert names == {"content-type", "content-length", "allow"}


def test_only_who_asks_for_mcp_loads_it_and_nobody_reads_of_it_in_the_log(suite: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as sink, FixtureProcess(suite, log=sink, PYTHONPROFILEIMPORTTIME="1") as process:
        prefix, client = process.open("one"), process.client()
        client.ask("GET", f"{prefix}/orders/a-1")
        client.ask("GET", f"{prefix}/mcp")
        assert not imported(log, "mcp")
        assert post(client, prefix, call_of("order", id="a-1")).status == 200
        assert imported(log, "mcp")
        for sent, _, headers in RAW:
            post(client, prefix, sent, **headers)
    assert [line for line in log.read_text().splitlines() if not line.startswith("import time:")] == []


def imported(log: Path, package: str) -> bool:
    modules = [line.rpartition("|")[2].strip() for line in log.read_text().splitlines()]
    assert "fastapi" in modules  # or nothing could be told from the log
    return package in modules
