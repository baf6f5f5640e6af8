"""What the server is told about connections that wait for their next request."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from contracts.suite.settings import Limits
from fixture_api import serving
from fixture_api.connections import BoundedConnection, Patience


async def app(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("nobody asks anything")


def config() -> uvicorn.Config:
    return serving._config(app, Patience())


def test_an_idle_connection_may_stay_longer_than_any_attempt_with_the_default_limits() -> None:
    assert config().timeout_keep_alive >= 3600 > Limits().seconds


def test_the_patience_with_idle_connections_reaches_each_of_them() -> None:
    made = config()
    made.load()

    async def connection() -> BoundedConnection:
        protocol: Any = made.http_protocol_class
        made_by_it: BoundedConnection = protocol(config=made, server_state=ServerState(), app_state={})
        return made_by_it

    assert asyncio.run(connection()).timeout_keep_alive == made.timeout_keep_alive == serving.KEEP_ALIVE_S
