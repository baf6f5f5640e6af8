"""Two uvicorn servers in one event loop, from bound sockets to a quick end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any, cast

import uvicorn
import uvloop

from contracts.errors import ErrorCode, Found, LabError
from fixture_api.connections import Begin, BoundedConnection, Patience
from fixture_api.data_plane import DataPlane

_BACKLOG = 2048


class _Server(uvicorn.Server):
    """A uvicorn server that leaves the signals to its process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; raises LabError when the address cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        found = [Found(text=str(error), place=f"{host}:{port}")]
        raise LabError(ErrorCode.STACK_UNHEALTHY, "the fixture API cannot listen", found=found) from error
    bound.settimeout(0)
    return bound


def serve(  # noqa: PLR0913 - the process's parts
    *,
    data_app: DataPlane,
    data: socket.socket,
    control_app: Any,
    control: socket.socket,
    patience: Patience,
    exit_with_stdin: bool,
) -> None:
    """Serves both ports until SIGTERM, SIGINT or, where asked for, the end of stdin; connections are dropped then."""
    _allow_many_connections()
    # Nothing with an address or a path is ever logged: a prefix is a secret of its attempt.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="fixture_api: %(levelname)s: %(message)s")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        ports = [
            (_config(data_app, patience, begin=data_app.begin), data),
            (_config(control_app, patience, begin=None), control),
        ]
        runner.run(_serve(ports, exit_with_stdin=exit_with_stdin))


def _allow_many_connections() -> None:
    """Idle connections stay open, so the usual soft limit of 1 024 files could be used up by one careless agent."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _serve(ports: list[tuple[uvicorn.Config, socket.socket]], *, exit_with_stdin: bool) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if exit_with_stdin:
        await loop.connect_read_pipe(lambda: _EndOfInput(stop), sys.stdin)
    servers = [_Server(config) for config, _ in ports]
    tasks = [
        asyncio.create_task(server.serve(sockets=[bound])) for server, (_, bound) in zip(servers, ports, strict=True)
    ]
    while not all(server.started for server in servers):
        await asyncio.sleep(0)
    data_port, control_port = (bound.getsockname()[1] for _, bound in ports)
    sys.stdout.write(json.dumps({"type": "ready", "dataPort": data_port, "controlPort": control_port}) + "\n")
    sys.stdout.flush()
    await stop.wait()
    await _drop(servers, tasks)


async def _drop(servers: list[_Server], tasks: list[asyncio.Task[None]]) -> None:
    """Ends both servers at once: whoever waits for an answer loses the connection, and gets no invented one."""
    # uvicorn reports each request that is cut off here as an error of the application.
    logging.getLogger("uvicorn.error").disabled = True
    for server in servers:
        for listening in server.servers:
            listening.close()
    await asyncio.sleep(0)  # one that was accepted before is only now a connection that can be dropped
    for server in servers:
        for connection in list(server.server_state.connections):
            connection.transport.abort()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _EndOfInput(asyncio.Protocol):
    """Stops the process when its owner is gone."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._stop.set()


def _config(app: Any, patience: Patience, *, begin: Begin | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=cast("type[BoundedConnection]", functools.partial(BoundedConnection, patience=patience, begin=begin)),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        date_header=False,
        server_header=False,
        backlog=_BACKLOG,
    )
