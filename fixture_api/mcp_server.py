"""The only door to the official MCP SDK: handshakes, versions and message forms are its own, tool calls are ours.

Loading it takes most of a second, so nothing but the first MCP request imports this module.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, cast

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from contracts.record import Json
from contracts.suite.tool import Tool
from fixture_api.answers import Answer, make_answer, make_head
from fixture_api.mcp_calls import McpExchange

NAME = "fixture-api"

_EXCHANGE = "labctl.exchange"
"""Key of the ASGI scope that the SDK gets; it hands the request to each handler, so nothing of it is global."""

_HEADERS = (b"accept", b"content-type", b"mcp-")
"""Beginnings of the names that the protocol knows; Host and Origin are not the SDK's to judge: agents come with any."""

Context = ServerRequestContext[dict[str, Any], Any]


class McpServer:
    """The bound tools of a suite over streamable HTTP: no sessions, no streams, one JSON answer for each POST."""

    def __init__(self, tools: tuple[Tool, ...], *, revision: str) -> None:
        bound = [(tool, tool.http) for tool in tools if tool.http is not None]
        self._bindings = {tool.name: http for tool, http in bound}
        self._schemas = {tool.name: _input_schema(tool) for tool, _ in bound}
        self._list = types.ListToolsResult(tools=[_listed(tool) for tool, _ in bound])
        self._server = Server(
            NAME,
            version=revision,
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        _keep_to_ourselves(logging.getLogger("mcp"))

    async def answer(self, exchange: McpExchange, *, headers: list[tuple[bytes, bytes]], body: bytes) -> Answer:
        """The answer to a POST; equal requests to equal worlds get equal ones. Waits for nothing outside."""
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "query_string": b"",
            "headers": [pair for pair in headers if pair[0].startswith(_HEADERS)],
            _EXCHANGE: exchange,
        }
        wire = _Wire(body)
        # A manager serves for one `run`, and costs nothing to make: so none of them outlives a request.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=len(body) + 1
        )
        async with manager.run():
            await manager.handle_request(scope, wire.receive, wire.send)
        return wire.answer()

    async def _list_tools(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Unknown cursor: all tools are on the first page")
        return self._list

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        http = self._bindings.get(params.name)
        exchange: McpExchange = cast("Request", context.request).scope[_EXCHANGE]
        said = exchange.call(params.name, http, params.arguments or {}) if http else exchange.unknown()
        if said is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        return types.CallToolResult(content=[types.TextContent(text=said.text)], is_error=said.is_error)


class _Wire:
    """Both ends of the ASGI connection that the SDK sees."""

    def __init__(self, body: bytes) -> None:
        self._unread: bytes | None = body
        self._status = HTTPStatus.OK.value
        self._headers: dict[str, str] = {}
        self._pieces: list[bytes] = []

    async def receive(self) -> MutableMapping[str, Any]:
        """The body; after it nothing, as from a client that waits."""
        if self._unread is None:
            await asyncio.get_running_loop().create_future()
        body, self._unread = self._unread, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Keeps what the SDK sends."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
        else:
            self._pieces.append(message["body"])

    def answer(self) -> Answer:
        """The answer, with those headers only that tell of the body."""
        body = b"".join(self._pieces)
        content_type = self._headers.get("content-type")
        return make_answer(
            make_head(self._status, {"content-type": content_type} if body and content_type else {}), body
        )


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(name=tool.name, description=tool.function.description, input_schema=_input_schema(tool))


def _input_schema(tool: Tool) -> dict[str, Json]:
    return {"type": "object", **tool.function.parameters}


def _keep_to_ourselves(logger: logging.Logger) -> None:
    logger.handlers = [_PlaceOnly(sys.stderr)]
    logger.setLevel(logging.ERROR)
    logger.propagate = False


class _PlaceOnly(logging.StreamHandler[Any]):
    """Says where the SDK met an error and of which kind; its own texts would quote what agents sent."""

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0] if record.exc_info else None
        return f"fixture_api: ERROR: {record.name}:{record.lineno} {kind.__name__ if kind else ''}".rstrip()
