"""The runner's end of the agent_host protocol: one connection, many agents, one reader that sorts what comes."""

from __future__ import annotations

import os
import queue
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Protocol

from pydantic import ValidationError

from contracts.errors import ErrorCode, LabError
from contracts.hosting import (
    AgentEnded,
    AgentFailed,
    AgentOut,
    AgentStarted,
    HostEnd,
    HostHello,
    HostStart,
    host_messages,
)
from contracts.order import HostOverStdio, HostOverTcp
from runner import clock

ENDING_S = 15.0
"""How long the host may take to end every agent when the runner leaves."""
WRITE_S = 30.0
"""How long a host over TCP may take to read an order."""
EXIT_S = 1.0
"""After its last output."""
_RETRY_S = 0.02
_INHERITED = ("PATH", "TMPDIR")
"""All that the host, and so an agent that looks at it, sees of the runner's environment."""


@dataclass(frozen=True)
class HostGone:
    """The host died, or said something that is not the protocol."""

    reason: str


@dataclass(frozen=True)
class Notice:
    """What another thread of the runner has to say to the one that waits for an agent."""

    about: object


Place = Callable[[HostStart], HostStart]
"""What an order becomes where the agent is."""
Event = AgentStarted | AgentFailed | AgentOut | AgentEnded | HostGone | Notice


class AgentSession:
    """One agent at the host: orders go out, events come in."""

    def __init__(self, session_id: str, *, send: Callable[[HostStart | HostEnd], None]) -> None:
        self.id = session_id
        self._send = send
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def start(self, order: HostStart) -> None:
        """Ask for the process."""
        self._send(order)

    def end(self) -> None:
        """Ask for the end of the process and of all its descendants."""
        self._send(HostEnd(id=self.id))

    def put(self, event: Event) -> None:
        """Hand over an event; never waits."""
        self._events.put(event)

    def next(self, *, seconds: float | None) -> Event | None:
        """The next event, or None when none came in time; None waits for ever."""
        try:
            return self._events.get(timeout=seconds)
        except queue.Empty:
            return None


class Writing(Protocol):
    """Where orders go."""

    def write(self, content: bytes, /) -> object:
        """Send the bytes."""

    def flush(self) -> object:
        """Hold nothing back."""

    def close(self) -> object:
        """Say that no order will follow."""


class AgentHost:
    """A connection to agent_host; safe for many threads."""

    def __init__(
        self,
        reading: IO[bytes],
        writing: Writing,
        *,
        process: subprocess.Popen[bytes] | None,
        place: Place | None = None,
    ) -> None:
        self._place = place
        self._reading = reading
        self._writing = writing
        self._process = process
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()  # of its own: the reader must go on while a writer waits for the host
        self._sessions: dict[str, AgentSession] = {}
        self._gone: HostGone | None = None
        self._hello = threading.Event()
        self._reader = threading.Thread(target=self._read, name="agent_host reader", daemon=True)
        self._reader.start()

    @property
    def lost(self) -> str | None:
        """Why no agent can be started any more; None while one can."""
        return self._gone.reason if self._gone else None

    def await_hello(self, *, seconds: float) -> None:
        """Wait for the host's first line; raises LabError AGENT_HOST_MISSING."""
        if not self._hello.wait(seconds) or self._gone is not None:
            cause = self._gone.reason if self._gone else f"it said nothing for {seconds:g} s"
            self.close()
            raise missing_host("agent_host does not speak", cause=cause)

    @contextmanager
    def session(self, session_id: str) -> Iterator[AgentSession]:
        """A session of that id, which is unique among those that are open."""
        session = AgentSession(session_id, send=self._send)
        with self._lock:
            self._sessions[session_id] = session
            if self._gone is not None:
                session.put(self._gone)
        try:
            yield session
        finally:
            with self._lock:
                del self._sessions[session_id]

    def _send(self, order: HostStart | HostEnd) -> None:
        if self._place is not None and isinstance(order, HostStart):
            order = self._place(order)
        line = order.model_dump_json(by_alias=True).encode() + b"\n"
        try:
            with self._write_lock:
                self._writing.write(line)
                self._writing.flush()
        except (OSError, ValueError) as trouble:  # ValueError: closed by `close`
            self._lose(f"agent_host cannot be reached any more: {trouble}")

    def _read(self) -> None:
        try:
            for line in self._reading:
                self._take(line)
        except (OSError, ValueError) as trouble:
            self._lose(f"agent_host: {trouble}")
        else:
            self._lose("agent_host ended")

    def _take(self, line: bytes) -> None:
        try:
            message = host_messages.validate_json(line)
        except ValidationError as trouble:
            raise ValueError(f"a line that is not the protocol: {line[:200]!r}") from trouble
        if isinstance(message, HostHello):
            self._hello.set()
            return
        with self._lock:
            session = self._sessions.get(message.id)
        if session is not None:
            session.put(message)

    def _lose(self, reason: str) -> None:
        with self._lock:
            if self._gone is None:
                self._gone = HostGone(reason=reason)
            for session in self._sessions.values():
                session.put(self._gone)
        self._hello.set()

    def close(self) -> None:
        """Leave the host, which then ends every agent, and wait for that, but not for ever."""
        with suppress(OSError, ValueError):
            self._writing.close()
        self._reader.join(ENDING_S)
        if not self._reader.is_alive():  # else a close would wait for the read that it is in
            self._reading.close()
        if self._process is not None:
            self._end_process(self._process)

    def _end_process(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def reach_host(
    where: HostOverStdio | HostOverTcp, *, seconds: float, token: str | None = None, place: Place | None = None
) -> AgentHost:
    """Start the host, or connect to it, and wait for its hello; raises LabError AGENT_HOST_MISSING.

    `token` is the first line for a host that lets in only who knows it; `place` is done to every order to start.
    """
    until = clock.elapsed_s() + seconds
    if isinstance(where, HostOverStdio):
        host = _start(where)
    else:
        connection = _connect(where, until=until)
        if token is not None:
            connection.sendall(token.encode() + b"\n")
        host = AgentHost(connection.makefile("rb"), _SocketWriter(connection), process=None, place=place)
    host.await_hello(seconds=max(until - clock.elapsed_s(), _RETRY_S))
    return host


def _start(where: HostOverStdio) -> AgentHost:
    env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    try:
        process = subprocess.Popen(where.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    except OSError as trouble:
        raise missing_host(f"agent_host cannot be started: {where.argv[0]}", cause=str(trouble)) from trouble
    if process.stdin is None or process.stdout is None:
        raise AssertionError("pipes were asked for")
    return AgentHost(process.stdout, process.stdin, process=process)


def _connect(where: HostOverTcp, *, until: float) -> socket.socket:
    while True:
        left_s = max(until - clock.elapsed_s(), _RETRY_S)
        try:
            connection = socket.create_connection((where.host, where.port), timeout=left_s)
        except OSError as trouble:
            if clock.elapsed_s() + _RETRY_S > until:
                raise missing_host(
                    f"agent_host at {where.host}:{where.port} cannot be reached", cause=str(trouble)
                ) from trouble
            clock.pause(_RETRY_S)
            continue
        connection.settimeout(None)
        # of writing alone: who never reads, such as a host that its agent stopped, must hold up no thread for ever
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(WRITE_S))
        return connection


def _timeval(seconds: float) -> bytes:
    """As the kernel takes it: whole seconds, and microseconds."""
    whole = int(seconds)
    return struct.pack("ll", whole, int((seconds - whole) * 1_000_000))


class _SocketWriter:
    """Closing it tells the host that the runner leaves, while what the host still says can be read."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, content: bytes) -> None:
        self._connection.sendall(content)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        try:
            self._connection.shutdown(socket.SHUT_WR)
        finally:  # also where the host is gone already
            self._connection.close()  # for real once the reading end is closed too


def missing_host(message: str, *, cause: str) -> LabError:
    """The error for a host that is not there."""
    return LabError(ErrorCode.AGENT_HOST_MISSING, message, cause=cause, next_step="read the log of the service agent")
