"""Clients that were not written here talk with the scripted model, call the tools, and leave the rows they should."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import openai
import pytest
from mcp import Client
from mcp.types import TextContent

from tests.fakes.fixture_process import TIMEOUT_S, FixtureProcess
from tests.fakes.refund_desk import (
    ANSWER,
    MODEL,
    OFFERED,
    QUESTION,
    ROWS,
    completion_request,
    converse,
    program,
    refund_desk,
)

_NUMBERS = itertools.count(1)
_SCRIPT = Path(__file__).parents[1] / "fakes" / "refund_desk.mjs"
_MIB = 1024 * 1024


class Desk(NamedTuple):
    """An open attempt of the refund desk."""

    api: FixtureProcess
    number: int
    prefix: str

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.api.data_port}"

    @property
    def url(self) -> str:
        """FIXTURE_URL."""
        return self.root + self.prefix

    def close(self) -> dict[str, Any]:
        return self.api.close("refund", self.number)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixtureProcess]:
    with FixtureProcess(refund_desk(tmp_path_factory.mktemp("suites") / "suite")) as process:
        yield process


def opened(api: FixtureProcess, **opening: Any) -> Desk:
    number = next(_NUMBERS)
    return Desk(api, number, api.open("refund", number, model=MODEL, prompt="polite", **opening))


def nameless(closed: dict[str, Any]) -> list[dict[str, Any]]:
    """What was served, but for the attempt's number."""
    return [{**served, "row": {**served["row"], "attempt": 0}} for served in closed["served"]]


def summary(closed: dict[str, Any]) -> list[tuple[Any, ...]]:
    rows = [served["row"] for served in closed["served"]]
    return [(row["via"], row["route"], row["tool"], row["status"]) for row in rows]


def tool_rows(closed: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of tools, but for the door and the place among the others."""
    rows = [served["row"] for served in nameless(closed) if served["row"]["tool"]]
    return [{key: value for key, value in row.items() if key not in ("via", "sequence")} for row in rows]


# ---- clients: each completes the conversation below one URL and returns the model's last word


def with_httpx(url: str, **headers: str) -> str:
    with httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_S) as client:
        return converse(
            lambda messages: _first(client.post("/v1/chat/completions", json=completion_request(messages)).json()),
            lambda name, arguments: tool_with_httpx(client, name, arguments),
        )


def tool_with_httpx(client: httpx.Client, name: str, arguments: dict[str, Any]) -> str:
    if name == "lookup_order":
        return client.get(f"/orders/{arguments['order_id']}").raise_for_status().text
    return client.post("/refunds", json=arguments).raise_for_status().text


def with_curl(url: str, **headers: str) -> str:
    given = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]

    def call(name: str, arguments: dict[str, Any]) -> str:
        if name == "lookup_order":
            return curl(*given, f"{url}/orders/{arguments['order_id']}")
        return curl(*given, "--json", json.dumps(arguments), f"{url}/refunds")

    def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
        body = json.dumps(completion_request(messages))
        return _first(json.loads(curl(*given, "--json", "@-", f"{url}/v1/chat/completions", given=body)))

    return converse(ask, call)


def curl(*arguments: str, given: str | None = None) -> str:
    """What curl writes to stdout; a status of 400 or more is an error."""
    return _curl("--fail", *arguments, given=given).stdout


def _curl(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    argv = [program("curl"), "--silent", "--show-error", "--noproxy", "*", *arguments]
    ended = subprocess.run(argv, input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended


def with_node(url: str, **headers: str) -> str:
    argv = [program("node"), str(_SCRIPT), url, json.dumps(OFFERED), *headers.values()]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def with_openai(url: str, **headers: str) -> str:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", default_headers=headers) as client,
        httpx.Client(base_url=url, headers=headers) as tools,
    ):

        def ask(messages: list[Any]) -> dict[str, Any]:
            completion = client.chat.completions.create(model=MODEL, messages=messages, tools=OFFERED)  # type: ignore[arg-type]
            return completion.choices[0].message.to_dict()

        return converse(ask, lambda name, arguments: tool_with_httpx(tools, name, arguments))


def with_openai_streamed(url: str, **headers: str) -> str:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", default_headers=headers) as client,
        httpx.Client(base_url=url, headers=headers) as tools,
    ):

        def ask(messages: list[Any]) -> dict[str, Any]:
            with client.chat.completions.stream(model=MODEL, messages=messages, tools=OFFERED) as stream:  # type: ignore[arg-type]
                return stream.get_final_completion().choices[0].message.to_dict()

        return converse(ask, lambda name, arguments: tool_with_httpx(tools, name, arguments))


def with_pydantic_ai(url: str, **headers: str) -> str:
    from pydantic_ai import Agent  # noqa: PLC0415 - the slowest import of all tests
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    async def conversation() -> str:
        async with (
            httpx.AsyncClient(base_url=url, headers=headers) as tools,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", default_headers=headers) as client,
        ):
            model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
            agent = Agent(model)

            @agent.tool_plain
            async def lookup_order(order_id: str) -> str:
                return (await tools.get(f"/orders/{order_id}")).raise_for_status().text

            @agent.tool_plain
            async def issue_refund(order_id: str, amount: int) -> str:
                return (
                    (await tools.post("/refunds", json={"order_id": order_id, "amount": amount}))
                    .raise_for_status()
                    .text
                )

            return (await agent.run(QUESTION)).output

    return asyncio.run(conversation())


def with_mcp(url: str, **headers: str) -> str:
    """The tools over MCP, the model over HTTP."""

    async def conversation() -> str:
        async with Client(f"{url}/mcp") as client:
            loop = asyncio.get_running_loop()

            def call(name: str, arguments: dict[str, Any]) -> str:
                calling = client.call_tool(name, arguments)
                (block,) = asyncio.run_coroutine_threadsafe(calling, loop).result(TIMEOUT_S).content
                assert isinstance(block, TextContent)
                return block.text

            def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
                return _first(httpx.post(f"{url}/v1/chat/completions", json=completion_request(messages)).json())

            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed == [tool["function"]["name"] for tool in OFFERED]
            return await asyncio.to_thread(converse, ask, call)

    return asyncio.run(conversation())


def _first(completion: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = completion["choices"][0]["message"]
    return message


Conversation = Callable[..., str]
BY_HAND: list[Conversation] = [with_httpx, with_curl, with_node, with_openai]
"""Their requests have equal bodies, so all their rows are equal."""
CLIENTS: list[Conversation] = [*BY_HAND, with_openai_streamed, with_pydantic_ai]


@pytest.fixture(scope="module")
def expected(api: FixtureProcess) -> dict[str, Any]:
    """What one conversation leaves."""
    desk = opened(api)
    assert with_httpx(desk.url) == ANSWER
    return desk.close()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_real_client_has_the_whole_conversation(
    api: FixtureProcess, expected: dict[str, Any], client: Conversation
) -> None:
    desk = opened(api)
    assert client(desk.url) == ANSWER
    closed = desk.close()
    assert summary(closed) == ROWS
    assert closed["state"] == {
        "orders": {"a-1": {"amount": 1250, "status": "refunded"}},
        "refunds": [{"order_id": "a-1", "amount": 1250}],
    }
    assert [served["arguments"] for served in closed["served"] if served["row"]["tool"]] == [
        {"order_id": "a-1"},
        {"order_id": "a-1", "amount": 1250},
    ]
    assert tool_rows(closed) == tool_rows(expected)
    if client in BY_HAND:
        assert nameless(closed) == nameless(expected)


@pytest.mark.parametrize("client", CLIENTS)
def test_by_the_header_alone_it_has_the_same_one(
    api: FixtureProcess, expected: dict[str, Any], client: Conversation
) -> None:
    desk = opened(api, select="header")
    assert client(desk.root, **{"x-eval-case": "refund"}) == ANSWER
    closed = desk.close()
    assert summary(closed) == ROWS
    assert tool_rows(closed) == tool_rows(expected)


def test_the_official_mcp_client_has_it_with_equal_rows_up_to_the_door(
    api: FixtureProcess, expected: dict[str, Any]
) -> None:
    desk = opened(api)
    assert with_mcp(desk.url) == ANSWER
    closed = desk.close()
    assert summary(closed) == [("mcp" if tool else via, route, tool, status) for via, route, tool, status in ROWS]
    assert tool_rows(closed) == tool_rows(expected)
    assert closed["state"] == expected["state"]


def test_conversations_of_different_clients_at_once_do_not_meet(api: FixtureProcess, expected: dict[str, Any]) -> None:
    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(client, desk.url) for client, desk in desks))

    desks = [(client, opened(api)) for client in BY_HAND * 3]
    assert asyncio.run(all_at_once()) == [ANSWER] * len(desks)
    for _, desk in desks:
        assert nameless(desk.close()) == nameless(expected)


# ---- HTTP as curl sees it


def test_curl_uses_one_connection_for_two_requests(api: FixtureProcess) -> None:
    desk = opened(api)
    ended = _curl("--verbose", "--http1.1", f"{desk.url}/orders/a-1", f"{desk.url}/orders/none")
    assert "Re-using existing connection" in ended.stderr
    assert ended.stderr.count("Connected to ") == 1
    assert "left intact" in ended.stderr
    assert [row[3] for row in summary(desk.close())] == [200, 404]


def test_curl_sends_a_big_body_only_after_100_continue(api: FixtureProcess, tmp_path: Path) -> None:
    desk = opened(api)
    big = tmp_path / "big.json"
    big.write_text(json.dumps({"order_id": "a-1", "amount": 1250, "why": "x" * 2 * _MIB}))
    ended = _curl("--verbose", "--http1.1", "-H", "Expect: 100-continue", "--json", f"@{big}", f"{desk.url}/refunds")
    assert "< HTTP/1.1 100 Continue" in ended.stderr
    assert ended.stdout == '{"refund":"r-1","of":"a-1"}'
    assert summary(desk.close()) == [ROWS[3]]


def test_curl_is_told_413_before_it_sends_too_big_a_body_to_its_end(api: FixtureProcess, tmp_path: Path) -> None:
    desk = opened(api)
    big = tmp_path / "big.bin"
    big.write_bytes(bytes(32 * _MIB))
    written = ("--output", str(tmp_path / "answer"), "--write-out", "%{http_code}")
    assert _curl(*written, "--data-binary", f"@{big}", f"{desk.url}/refunds").stdout == "413"
    assert desk.close()["served"] == []


def test_curl_offers_http2_and_gets_every_answer_over_http_1_1(api: FixtureProcess) -> None:
    desk = opened(api)
    body = json.dumps({"order_id": "a-1", "amount": 1250})
    ended = _curl(
        "--verbose",
        "--http2",
        "--json",
        body,
        f"{desk.url}/refunds",
        "--next",
        "--silent",
        "--noproxy",
        "*",
        f"{desk.url}/orders/a-1",
    )
    assert "Upgrade: h2c" in ended.stderr
    assert ended.stdout == '{"refund":"r-1","of":"a-1"}{"amount":1250,"status":"refunded"}'
    assert summary(desk.close()) == [ROWS[3], ROWS[1]]


def test_head_and_options_of_a_route_say_what_get_would(api: FixtureProcess) -> None:
    desk = opened(api)
    head = curl("--head", f"{desk.url}/orders/a-1")
    get = curl("--include", f"{desk.url}/orders/a-1")
    assert get.startswith(head)
    assert set(head.lower().split()) & {"date:", "server:"} == set()
    options = curl("--include", "--request", "OPTIONS", f"{desk.url}/orders/a-1")
    assert "allow: GET, HEAD, OPTIONS" in options
    for page in ("/health", "/clock"):
        for url in (desk.root, desk.url):
            assert "200 OK" in curl("--head", url + page)
    desk.close()
