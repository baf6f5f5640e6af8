"""What the server is told about connections that wait for their next request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.server import ServerState

from fixture_api import serving
from fixture_api.connections import BoundedConnection, Patience

REQUEST = b"GET /clock HTTP/1.1\r\nhost: lab\r\n\r\n"


async def app(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class Client(asyncio.Protocol):
    """Asks once and says when the answer is there."""

    def __init__(self) -> None:
        self.answered = asyncio.Event()

    def connection_made(self, transport: Any) -> None:
        transport.write(REQUEST)

    def data_received(self, data: bytes) -> None:
        assert data.startswith(b"HTTP/1.1 204")
        self.answered.set()


def test_nothing_will_ever_close_an_idle_connection_from_this_end() -> None:
    made = serving._config(app, Patience(), begin=None)
    made.load()
    factory: Any = made.http_protocol_class
    opened: list[BoundedConnection] = []

    def connection() -> BoundedConnection:
        opened.append(factory(config=made, server_state=ServerState(), app_state={}))
        return opened[-1]

    async def ask() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(connection, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport, client = await loop.create_connection(Client, "127.0.0.1", port)
        await client.answered.wait()
        (one,) = opened
        assert one.timeout_keep_alive_task is None, "no timer ends it"
        assert not one.transport.is_closing()
        transport.close()
        server.close()

    asyncio.run(ask())
