"""A container for each attempt: asked of the driver, opened with a token, taken by one thread, over at the end."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from math import inf

from contracts.containers import (
    ContainerAnswer,
    ContainerFailed,
    ContainerOver,
    ContainerRequest,
    ContainerStarted,
    ContainerWanted,
    RootSetupEnded,
    RootSetupWanted,
    container_answers,
)
from contracts.control import AttemptKey
from contracts.errors import LabError
from contracts.hosting import HostStart
from contracts.lines import RunnerAttempt
from contracts.order import HostOverTcp
from runner.attempts import Task
from runner.hosting import AgentHost, AgentSession, reach_host
from runner.randomness import random_bytes
from runner.suite_time import time_left_s

WORKING_DIR = "/working_dir"
"""Where an agent in a container of its own starts: the copy of the case's folder, or an empty one."""
HOME = "/work"
"""Setup and agent share it; programs in it may be run."""
ANSWER_S = 300.0
"""The driver always answers or is gone, which is noticed elsewhere; this is for a driver that is stuck."""


LEAVING = "the runner is being left"
"""Why an attempt gets none any more, once all are given up."""


class NoContainerError(Exception):
    """The attempt got no container; the text says why."""


@dataclass
class Container:
    """One that was asked for; what is known of it comes from other threads."""

    alias: str
    token: str
    started: threading.Event = field(default_factory=threading.Event)
    failed: str | None = None
    set_up: threading.Event = field(default_factory=threading.Event)
    setup: RootSetupEnded | None = None
    host: AgentHost | None = None

    def fail(self, reason: str) -> None:
        """Let nobody wait for it any more; the first reason stays."""
        self.failed = self.failed or reason
        self.started.set()
        self.set_up.set()


class Containers:
    """All containers of a run; implements `runner.agents.following.Hosting` for the thread that took one."""

    def __init__(self, *, tell: Callable[[ContainerRequest], None], port: int, seconds: float) -> None:
        self._tell = tell
        self._port = port
        self._seconds = seconds
        self._lock = threading.Lock()
        self._asked: dict[tuple[str, int], Container] = {}
        self._open: dict[str, Container] = {}
        self._of_thread = threading.local()
        self._is_left = False

    def ahead(
        self, groups: Iterable[tuple[Task, ...]], *, lost: Callable[[], str | None]
    ) -> Iterator[tuple[Task, ...]]:
        """The groups, each with its container asked for while the one before it is under way.

        Once `lost` says why no attempt starts any more, no container is asked for.
        """
        before: tuple[Task, ...] | None = None
        for group in groups:
            if lost() is None:
                self._ask(group[0].key)
            if before is not None:
                yield before
            before = group
        if before is not None:
            yield before

    def _ask(self, key: AttemptKey) -> Container:
        with self._lock:
            known = self._asked.get((key.case, key.attempt))
            if known is not None:
                return known
            container = Container(alias=f"attempt-{random_bytes(8).hex()}", token=random_bytes(16).hex())
            if self._is_left:
                container.fail(LEAVING)
                return container
            self._asked[key.case, key.attempt] = self._open[container.alias] = container
        digest = hashlib.sha256(container.token.encode()).hexdigest()
        self._tell(ContainerWanted(case_id=key.case, attempt=key.attempt, alias=container.alias, token_sha256=digest))
        return container

    def giving_back(self, emit: Callable[[RunnerAttempt], None]) -> Callable[[RunnerAttempt], None]:
        """`emit`, after which no container waits any more for an attempt that never took the one asked for ahead."""

        def finish(attempt: RunnerAttempt) -> None:
            self._give_back(AttemptKey(case=attempt.record.case_id, attempt=attempt.record.attempt))
            emit(attempt)

        return finish

    def _give_back(self, key: AttemptKey, *, entered: bool = False) -> None:
        with self._lock:
            container = self._asked.pop((key.case, key.attempt), None)
            if container is None:
                return
            del self._open[container.alias]
        self._tell(ContainerOver(alias=container.alias, entered=entered))

    @contextmanager
    def taken(self, key: AttemptKey, *, until_s: float = inf) -> Iterator[Container]:
        """The attempt's container for this thread, open; afterwards it is over.

        Nothing waits past `until_s`, when the suite's time ends. Raises NoContainerError and SuiteTimeOverError.
        """
        container = self._ask(key)
        try:
            self._enter(container, until_s=until_s)
            self._of_thread.container = container
            yield container
        finally:
            self._of_thread.container = None
            if container.host is not None:
                container.host.close()
            self._give_back(key, entered=container.host is not None)

    def _enter(self, container: Container, *, until_s: float) -> None:
        host = self._entered(container, until_s=until_s)
        with self._lock:
            container.host = host
            is_left = self._is_left
        if is_left:  # meanwhile: `close` knew of no host to leave
            raise NoContainerError(LEAVING)

    def _entered(self, container: Container, *, until_s: float) -> AgentHost:
        has_answer = container.started.wait(min(ANSWER_S, time_left_s(until_s)))
        seconds = min(self._seconds, time_left_s(until_s))
        if not has_answer:
            raise NoContainerError(f"the driver did not say within {ANSWER_S:g} s that its container started")
        if container.failed is not None:
            raise NoContainerError(container.failed)
        where = HostOverTcp(host=container.alias, port=self._port)
        try:
            return reach_host(where, seconds=seconds, token=container.token, place=in_container)
        except LabError as error:
            time_left_s(until_s)
            raise NoContainerError(": ".join(filter(None, (error.message, error.cause)))) from error

    def session(self, session_id: str) -> AbstractContextManager[AgentSession]:
        """A session in the container that this thread took."""
        container: Container | None = getattr(self._of_thread, "container", None)
        if container is None or container.host is None:
            raise AssertionError("this thread took no container")
        return container.host.session(session_id)

    def set_up_as_root(
        self, container: Container, script: str, *, env: Mapping[str, str], seconds: float, until_s: float = inf
    ) -> RootSetupEnded:
        """Have the driver run the script as root; raises NoContainerError when it cannot, or does not answer.

        Raises SuiteTimeOverError at `until_s`; the script ends with its container.
        """
        self._tell(RootSetupWanted(alias=container.alias, script=script, env=home_of(env), seconds=seconds))
        was_answered = container.set_up.wait(min(seconds + ANSWER_S, time_left_s(until_s)))
        time_left_s(until_s)
        if container.failed is not None:
            raise NoContainerError(container.failed)
        if not was_answered or container.setup is None:
            raise NoContainerError("the driver did not say how its setup ended")
        return container.setup

    def hear(self, line: bytes) -> None:
        """Take an answer of the driver; raises pydantic.ValidationError for a line that is none."""
        answer: ContainerAnswer = container_answers.validate_json(line)
        with self._lock:
            container = self._open.get(answer.alias)
        if container is None:
            return  # its attempt gave up
        match answer:
            case ContainerStarted():
                container.started.set()
            case ContainerFailed(reason=reason):
                container.fail(reason)
            case RootSetupEnded():
                container.setup = answer
                container.set_up.set()

    def close(self) -> None:
        """Leave every container now, which ends its agent; those that are still to start get none."""
        with self._lock:
            self._is_left = True
            containers = list(self._open.values())
        for container in containers:
            container.fail(LEAVING)
        for container in containers:
            if container.host is not None:
                container.host.close()


def in_container(order: HostStart) -> HostStart:
    """The order as it is meant there: it starts in the working folder; -e may still name another HOME."""
    return order.model_copy(update={"cwd": order.cwd or WORKING_DIR, "env": home_of(order.env)})


def home_of(env: Mapping[str, str]) -> dict[str, str]:
    """The environment with the HOME and TMPDIR of the container, unless it has its own."""
    return {"HOME": HOME, "TMPDIR": HOME, **env}
