"""From a plan to a served agent that can be asked: started where the lab starts it, reached, its guard tried."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from contracts.agent_resolution import missing_token
from contracts.errors import ErrorCode, Found, LabError
from contracts.order import HostOverTcp, RunnerOrder
from runner import clock
from runner.agents.served_attempt import JSON_HEADERS, Endpoint
from runner.agents.served_process import ServedProcess, log_line
from runner.agents.task import run_env
from runner.cuttable_calls import Address, Call, CallFailedError, accepts_connections
from runner.hosting import AgentHost

PORT_MARK, HOST_MARK = "{port}", "{host}"
"""In url and command of an agent that the lab starts: the port that it has to listen on, and the address."""
COMPOSE_PORT = 8090
"""In its own container any port is free but agent_host's."""
PROBE_S = 10.0
UNASKED_ANSWER_S = 30.0
"""How long an agent may take to refuse the one request without credentials; no attempt's limits are kept yet."""
_RETRY_S = 0.05
_REFUSALS = frozenset({401, 403})


@dataclass(frozen=True)
class Place:
    """Where a served agent listens, and where it is asked."""

    url: str
    port: int = 0
    listens_at: str = ""


def place_of(order: RunnerOrder) -> Place:
    """Where the agent is; one that the lab starts is where its host is, whatever host its URL names."""
    agent = order.plan.agent
    url = agent.url or ""
    if agent.command is None:
        return Place(url)
    elsewhere = order.agent_host if isinstance(order.agent_host, HostOverTcp) else None
    if PORT_MARK in url:
        url = url.replace(PORT_MARK, str(COMPOSE_PORT if elsewhere else _free_port()))
    address = Address.of(url)
    host = elsewhere.host if elsewhere else "127.0.0.1"
    return Place(
        url=f"{address.scheme}://{host}:{address.port}{address.target}",
        port=address.port,
        listens_at="0.0.0.0" if elsewhere else "127.0.0.1",  # noqa: S104 - inside a container of a closed network
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def start_service(order: RunnerOrder, place: Place, *, host: AgentHost, argv: tuple[str, ...]) -> ServedProcess:
    """Start the agent's process; it is told where to listen by `PORT`, `HOST` and the marks in its command."""
    marks = {PORT_MARK: str(place.port), HOST_MARK: place.listens_at}
    for mark, value in marks.items():
        argv = tuple(word.replace(mark, value) for word in argv)
    env = {**order.agent_env, **run_env(order.plan.conditions), "PORT": str(place.port), "HOST": place.listens_at}
    if order.plan.agent.select == "header":
        env |= {"FIXTURE_URL": order.fixture_url, "MODEL_URL": f"{order.fixture_url}/v1"}
    process = ServedProcess(host, log=_log_of(order))
    process.start(argv, env=env)
    return process


def _log_of(order: RunnerOrder) -> Callable[[str], None]:
    left_bytes = order.plan.conditions.limits.output_bytes

    def log(line: str) -> None:
        nonlocal left_bytes
        if left_bytes < 0:
            return
        left_bytes -= len(line.encode(errors="replace")) + 1
        cut = "what it says from here on is not kept" if left_bytes < 0 else None
        sys.stderr.write((f"agent | {cut}" if cut else log_line(line, level=order.plan.capture)) + "\n")

    return log


def endpoint_of(order: RunnerOrder, place: Place, *, process: ServedProcess | None) -> Endpoint:
    """How the agent is asked; raises LabError UNSET_VARIABLE where its token has no value."""
    agent = order.plan.agent
    token = order.agent_env.get(agent.auth) if agent.auth else None
    if agent.auth and not token:
        raise missing_token(agent)
    gone = process.ending if process else lambda: None
    return Endpoint(address=Address.of(place.url), token=token, gone=gone)


def await_service(endpoint: Endpoint, place: Place, *, process: ServedProcess | None, seconds: float) -> None:
    """Wait until it accepts connections; raises LabError AGENT_UNREACHABLE when it does not, or its process ends."""
    until = clock.elapsed_s() + seconds
    while trouble := accepts_connections(endpoint.address, seconds=min(seconds, PROBE_S)):
        died = process.over if process else None
        if died or clock.elapsed_s() + _RETRY_S > until:
            raise LabError(
                ErrorCode.AGENT_UNREACHABLE,
                f"the agent at {place.url} accepts no connection",
                found=[Found(died)] if died else [Found(f"waited {seconds:g} s")],
                cause=trouble,
                next_step="see agent | in the log" if process else "start it, or correct url in suite.toml",
            )
        clock.pause(_RETRY_S)


def refuse_open_listener(endpoint: Endpoint, place: Place, *, seconds: float = UNASKED_ANSWER_S) -> None:
    """Send one request without credentials: it has to get 401 or 403 within `seconds`.

    It is a POST of `{}` to the very URL of the attempts: no case, no messages, no address of any world, so that an
    agent that answers it anyway has nothing to act on. Raises LabError LISTENER_OPEN and AGENT_UNREACHABLE.
    """
    status = _status_without_credentials(endpoint, place, seconds=seconds)
    if status not in _REFUSALS:
        raise LabError(
            ErrorCode.LISTENER_OPEN,
            f"the agent at {place.url} answers without credentials",
            found=[Found(f"status {status} for a request without an authorization header")],
            expected="401 or 403, as auth_required says",
            next_step="have the agent demand its token before it listens on anything but loopback",
        )


def _status_without_credentials(endpoint: Endpoint, place: Place, *, seconds: float) -> int:
    call, is_late = Call(endpoint.address), threading.Event()

    def cut() -> None:
        is_late.set()
        call.cut()

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        return call.post(b"{}", JSON_HEADERS)[0]
    except CallFailedError as trouble:
        raise LabError(
            ErrorCode.AGENT_UNREACHABLE,
            f"the agent at {place.url} does not answer",
            found=[Found(f"no answer within {seconds:g} s to a request without credentials")]
            if is_late.is_set()
            else [],
            expected="401 or 403, as auth_required says",
            cause=None if is_late.is_set() else str(trouble),
            next_step="have the agent refuse at once what comes without its token, or leave auth_required out",
        ) from trouble
    finally:
        timer.cancel()
        call.close()
