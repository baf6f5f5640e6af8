"""Clients that were not written here, each as a function that has the refund desk's whole conversation."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import openai
from mcp import Client
from mcp.types import TextContent

from tests.fakes.fixture_process import TIMEOUT_S
from tests.fakes.refund_desk import MODEL, OFFERED, QUESTION, completion_request, converse, program

_SCRIPT = Path(__file__).with_name("refund_desk.mjs")


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
    return run_curl("--fail", *arguments, given=given).stdout


def run_curl(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """The ended process, which must have succeeded."""
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
            completion = client.chat.completions.create(model=MODEL, messages=messages, tools=OFFERED)
            message: dict[str, Any] = completion.choices[0].message.to_dict()
            return message

        return converse(ask, lambda name, arguments: tool_with_httpx(tools, name, arguments))


def with_openai_streamed(url: str, **headers: str) -> str:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", default_headers=headers) as client,
        httpx.Client(base_url=url, headers=headers) as tools,
    ):

        def ask(messages: list[Any]) -> dict[str, Any]:
            with client.chat.completions.stream(model=MODEL, messages=messages, tools=OFFERED) as stream:
                message: dict[str, Any] = stream.get_final_completion().choices[0].message.to_dict()
                return message

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

            async def lookup_order(order_id: str) -> str:
                return (await tools.get(f"/orders/{order_id}")).raise_for_status().text

            async def issue_refund(order_id: str, amount: int) -> str:
                return (
                    (await tools.post("/refunds", json={"order_id": order_id, "amount": amount}))
                    .raise_for_status()
                    .text
                )

            agent = Agent(model, tools=[lookup_order, issue_refund])
            answer: str = (await agent.run(QUESTION)).output
            return answer

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
