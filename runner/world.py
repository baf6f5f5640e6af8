"""The runner's client of the fixture API's control port, and what is known of whether that API lives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from pydantic import ValidationError

from contracts.control import AttemptBreach, AttemptClosed, AttemptKey, AttemptOpened, AttemptOpening
from contracts.errors import ErrorCode, LabError
from contracts.own_address import OwnAddress
from contracts.record import Record
from runner import clock
from runner.http_calls import Answer, Server, TimedOutError, UnreachableError
from runner.later import Later

CALL_S = 30.0
"""For opening and closing: the biggest journal takes less than a second."""
PROBE_S = 2.0
POLL_S = 300.0
"""One round of the long poll; then it is asked again."""
WATCH_AFTER_S = 0.1
"""A poll costs both sides more than a short attempt: those that end by then have none. The fixture API refuses what is
over a limit anyway; the poll only ends the agent."""
_SHOWN_BYTES = 300
_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.2
_JSON = {"content-type": "application/json"}
_OK = range(200, 300)
_GONE = 404

RecordT = TypeVar("RecordT", bound=Record)


class WorldLostError(Exception):
    """The fixture API does not answer any more; its text says what was seen."""


class WorldRefusedError(Exception):
    """The fixture API answered, but not with what was asked for."""


Notify = Callable[[AttemptBreach | WorldLostError | WorldRefusedError], None]


class BreachWatch(Protocol):
    """Whoever knows when an attempt passes a limit of requests (`World`), or has to end for another reason."""

    def watch(self, key: AttemptKey, notify: Notify) -> None:
        """Call `notify` once, from another thread."""
        ...


class World:
    """Opens and closes attempts; safe for many threads.

    Once it was lost it stays lost: every later call fails at once.
    """

    def __init__(self, control_url: str, *, connections: int) -> None:
        self._url = control_url
        # a long poll of each attempt holds a connection of its own
        self._server = Server(control_url, connections=2 * connections)
        self._lost: str | None = None
        self._lock = threading.Lock()
        self._polls = Later(seconds=WATCH_AFTER_S)

    @property
    def lost(self) -> str | None:
        """Why the fixture API counts as dead; None while it lives."""
        return self._lost

    def await_health(self, *, seconds: float) -> None:
        """Wait until the control port says that it is healthy; raises LabError STACK_UNHEALTHY after `seconds`."""
        until = clock.elapsed_s() + seconds
        pause_s = _FIRST_PAUSE_S
        while (trouble := self._trouble()) is not None:
            if clock.elapsed_s() + pause_s > until:
                raise LabError(
                    ErrorCode.STACK_UNHEALTHY,
                    f"the fixture API at {self._url} was not healthy within {seconds:g} s",
                    cause=trouble,
                    next_step="labctl doctor",
                )
            clock.pause(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _trouble(self) -> str | None:
        try:
            answer = self._server.exchange("GET", "/health", seconds=PROBE_S, headers={})
        except (TimedOutError, UnreachableError) as trouble:
            return str(trouble)
        return None if answer.status in _OK else f"/health answered {answer.status}"

    def open(self, opening: AttemptOpening) -> AttemptOpened:
        """Open an attempt; raises WorldLostError and WorldRefusedError."""
        return _parsed(self._asked("/attempts", opening), AttemptOpened)

    def close(self, key: AttemptKey, *, hide: str) -> AttemptClosed:
        """Close an attempt; `hide`, its secret token, is left out of everything that came back, in any spelling.

        Raises WorldLostError and WorldRefusedError.
        """
        self._polls.call_off((key.case, key.attempt))
        answer = self._asked("/attempts/close", key)
        body = OwnAddress(hide).hidden_in(answer.body)
        return _parsed(Answer(answer.status, body, answer.content_type), AttemptClosed)

    def breach(self, key: AttemptKey) -> AttemptBreach:
        """Wait until the attempt passes a limit or closes; raises WorldLostError and WorldRefusedError."""
        while (answer := self._answer("/attempts/breach", key, seconds=POLL_S)) is None:
            continue
        if answer.status == _GONE:  # closed before it was asked
            return AttemptBreach()
        return _parsed(answer, AttemptBreach)

    def watch(self, key: AttemptKey, notify: Notify) -> None:
        """Have a thread of its own wait for `breach`, unless the attempt closes soon, and hand over what came of it."""

        def wait() -> None:
            try:
                notify(self.breach(key))
            except (WorldLostError, WorldRefusedError) as trouble:
                notify(trouble)

        def start() -> None:
            threading.Thread(target=wait, name=f"breach {key.case} {key.attempt}", daemon=True).start()

        self._polls.plan((key.case, key.attempt), start, instead=lambda: notify(AttemptBreach()))

    def _asked(self, target: str, record: Record) -> Answer:
        answer = self._answer(target, record, seconds=CALL_S)
        if answer is None:
            raise WorldRefusedError(f"the control port is healthy, but {target} gave no answer within {CALL_S:g} s")
        return answer

    def _answer(self, target: str, record: Record, *, seconds: float) -> Answer | None:
        """The answer, or None when it is late and the fixture API is healthy."""
        if self._lost is not None:
            raise WorldLostError(self._lost)
        body = record.to_line().encode()
        try:
            return self._server.exchange("POST", target, body=body, headers=_JSON, seconds=seconds)
        except TimedOutError as trouble:
            self._lose_unless_healthy(str(trouble))
            return None
        except UnreachableError as trouble:
            self._lose_unless_healthy(str(trouble))
        # it lives: the connection was one that it had closed while idle; the second one is fresh
        try:
            return self._server.exchange("POST", target, body=body, headers=_JSON, seconds=seconds)
        except (UnreachableError, TimedOutError) as trouble:
            raise self._lose(str(trouble)) from trouble

    def _lose_unless_healthy(self, seen: str) -> None:
        if self._trouble() is not None:
            raise self._lose(seen)

    def _lose(self, seen: str) -> WorldLostError:
        with self._lock:
            if self._lost is None:
                self._lost = f"the fixture API does not answer any more: {seen}"
        return WorldLostError(self._lost)

    def disconnect(self) -> None:
        """Close the idle connections."""
        self._server.close()


def _parsed(answer: Answer, record: type[RecordT]) -> RecordT:
    if answer.status not in _OK:
        raise WorldRefusedError(
            f"the control port answered {answer.status}: {answer.body[:300].decode(errors='replace')}"
        )
    try:
        return record.model_validate_json(answer.body)
    except ValidationError as trouble:
        raise WorldRefusedError(f"the control port's answer is no {record.__name__}: {trouble}") from trouble
