"""POST /mcp: the first one loads what serves it, beside all other requests; the others find it loaded."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from contracts.suite.tool import Tool
from fixture_api import problems
from fixture_api.answers import allowed
from fixture_api.attempt import Attempt
from fixture_api.journal import Decision, Ending
from fixture_api.mcp_calls import McpExchange

if TYPE_CHECKING:
    from fixture_api.mcp_server import McpServer

MCP_PATH = "/mcp"


def _has_no_right_id(body: bytes) -> bool:
    """True for a request whose id is no text and no whole number: the SDK would take it for a notification."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return False  # the SDK says what is wrong with it
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return False
    message_id = message["id"]
    return not isinstance(message_id, str | int) or isinstance(message_id, bool)


class McpDoor:
    """Answers what comes to /mcp; nothing of the SDK is loaded before a client speaks the protocol."""

    def __init__(self, tools: tuple[Tool, ...], *, revision: str) -> None:
        self._tools = tools
        self._revision = revision
        self._loading: asyncio.Task[McpServer] | None = None

    async def decide(
        self, attempt: Attempt, *, method: str, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> Decision:
        """The answer, with delay and ending of the tool call in it; only a tool call is journaled."""
        if method == "OPTIONS":
            return Decision(allowed({"POST"}))
        if method != "POST":
            return Decision(problems.MCP_BY_POST)
        if _has_no_right_id(body):
            return Decision(problems.MCP_ID)
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._load))
        server = await asyncio.shield(self._loading)
        if attempt.closed:
            return Decision(problems.UNKNOWN_PREFIX)
        exchange = McpExchange(attempt)
        answer = await server.answer(exchange, headers=headers, body=body)
        if exchange.error is not None:
            raise exchange.error
        called = exchange.decision
        if called is None:
            return Decision(answer)
        # a tool's answer that was cut off is told in a whole one
        ending = called.ending if called.ending.sends_nothing else Ending.WHOLE
        return Decision(answer, delay_ms=called.delay_ms, ending=ending)

    def _load(self) -> McpServer:
        from fixture_api.mcp_server import McpServer  # noqa: PLC0415 - 0.7 s that a world without MCP never pays

        return McpServer(self._tools, revision=self._revision)
