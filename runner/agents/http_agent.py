"""The http adapter: an agent that is served, asked over HTTP and read while it answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from contracts.control import AttemptKey
from runner.agents.claims import lost
from runner.agents.interface import AgentRun, Assignment
from runner.agents.limits import passed_limit
from runner.agents.served_attempt import Endpoint, ServedAttempt
from runner.world import BreachWatch


class HttpAgent:
    """Asks one endpoint, from many threads; `ask` is how: for events, or as a chat."""

    def __init__(self, endpoint: Endpoint, *, watch: BreachWatch, ask: Callable[[ServedAttempt], None]) -> None:
        self._endpoint = endpoint
        self._watch = watch
        self._ask = ask
        self._lock = threading.Lock()
        self._under_way: set[ServedAttempt] = set()

    def run(self, assignment: Assignment) -> AgentRun:
        """Ask, follow the answer, and cut it when a limit is passed."""
        attempt = ServedAttempt(assignment, self._endpoint)
        with self._kept(attempt), _timed(attempt):
            self._watch.watch(AttemptKey(case=assignment.case.id, attempt=assignment.attempt), attempt.hear)
            return attempt.result_of(self._ask)

    def end(self) -> None:
        """Cut every answer that is awaited; nobody will ask again."""
        with self._lock:
            attempts = list(self._under_way)
        for attempt in attempts:
            attempt.stop(lost("the runner ended in the middle of this attempt"))

    @contextmanager
    def _kept(self, attempt: ServedAttempt) -> Iterator[None]:
        with self._lock:
            self._under_way.add(attempt)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.discard(attempt)


@contextmanager
def _timed(attempt: ServedAttempt) -> Iterator[None]:
    """Within: the attempt is stopped when its seconds are over; 0 is no limit."""
    limits = attempt.assignment.limits
    if not limits.seconds:
        yield
        return
    timer = threading.Timer(limits.seconds, attempt.stop, [passed_limit("seconds", limits=limits)])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
