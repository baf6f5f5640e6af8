"""The containers of a run's attempts: started when the runner asks, gone when their attempt is over, or kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from contracts.containers import (
    ContainerAnswer,
    ContainerFailed,
    ContainerOver,
    ContainerRequest,
    ContainerStarted,
    ContainerWanted,
    RootSetupEnded,
    RootSetupWanted,
    container_requests,
)
from contracts.errors import ErrorCode, Found, LabError
from driver.base_images import OWN
from driver.ports import OwnContainers, World
from driver.stacks.container_argv import AttemptContainer, root_setup_argv, root_setup_order
from driver.stacks.container_calls import call
from driver.stacks.room import refuse_too_much

Request = TypeVar("Request", bound=ContainerRequest)
ATTEMPT_LABEL = "labctl.attempt"
"""On every container of an attempt: which one."""
START_GRACE_S = 10.0
"""How long starts under way may take once the run is left; one that is cut in half may leave a container."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the containers of one run live."""

    world: World
    own: OwnContainers
    project: str
    networks: tuple[str, ...]
    user: str
    """`uid:gid` of the agents."""
    lent_volume: Callable[[], str]
    """The volume with the carried Python; waits until it is filled."""
    labels: dict[str, str]
    mounts: Mapping[str, Path]

    def name(self, alias: str) -> str:
        """Of the container with that alias, on the whole engine."""
        return f"{self.project}-{alias}"

    def container(self, wanted: ContainerWanted) -> AttemptContainer:
        """What is started for a request; raises OSError."""
        plan = self.world.plan
        key = self.own.image_of_case[wanted.case_id]
        return AttemptContainer(
            runtime=self.own.runtime,
            name=self.name(wanted.alias),
            alias=wanted.alias,
            image=plan.images[key].image_id,
            token_sha256=wanted.token_sha256,
            networks=self.networks,
            user=self.user,
            limits=plan.conditions.limits,
            mounts=self.mounts,
            working_dir=self._given_folder(wanted.case_id),
            lent_volume=None if key == OWN else self.lent_volume(),
            setup_root=plan.conditions.setup_root,
            keep=self.own.keep,
            labels={**self.labels, ATTEMPT_LABEL: f"{wanted.case_id}#{wanted.attempt}"},
        )

    def _given_folder(self, case_id: str) -> Path | None:
        """The case's working folder as it was staged, once it is seen to fit; raises OSError."""
        name = self.own.working_dirs.get(case_id)
        if name is None:
            return None
        folder = self.world.suite / name
        if not folder.is_dir():  # an empty one would let the agent be judged on what it was never given
            raise NotADirectoryError(f"the working_dir {name} is not in the suite as it was staged")
        refuse_too_much(folder, name=name, limits=self.world.plan.conditions.limits)
        return folder


@dataclass
class AttemptContainers:
    """Obeys the runner's requests, on threads of its own."""

    place: Place
    answer: Callable[[str], None] | None = None
    """Takes one line for the runner, from any thread; set before the first request."""
    _pool: ThreadPoolExecutor = field(init=False)
    _starts: dict[str, Future[None]] = field(default_factory=dict, init=False)
    """By alias: a container may be over before it started."""
    _give_up: threading.Event = field(default_factory=threading.Event, init=False)
    _give_up_starts: threading.Event = field(default_factory=threading.Event, init=False)
    _left: list[Found] = field(default_factory=list, init=False)
    gave_up: bool = field(default=False, init=False)
    """After `close`: a start was cut off, so the engine may be making a container of it still."""

    def __post_init__(self) -> None:
        # one is started ahead of those that run; another may be set up, or be taken away
        self._pool = ThreadPoolExecutor(self.place.world.plan.concurrency + 2, "attempt-containers")

    def take(self, line: str) -> None:
        """Begin what a line of the runner asks for; raises pydantic.ValidationError for a line that is no request."""
        request = container_requests.validate_json(line)
        match request:
            case ContainerWanted():
                self._starts[request.alias] = self._pool.submit(self._obey, self._start, request)
            case RootSetupWanted():
                self._pool.submit(self._obey, self._set_up, request)
            case ContainerOver():
                start = self._starts.pop(request.alias, None)
                self._pool.submit(self._obey, lambda over: self._take_away(over, start), request)

    def _say(self, answer: ContainerAnswer) -> None:
        if self.answer is None:
            raise AssertionError("a request before the runner was started")
        self.answer(answer.to_line())

    def _obey(self, obey: Callable[[Request], None], request: Request) -> None:
        """Whatever goes wrong: the attempt waits for an answer, which names it; after its end, `close` does."""
        try:
            obey(request)
        except Exception as error:  # noqa: BLE001 - as said
            reason = f"{type(error).__name__}: {error}"
            self._say(ContainerFailed(alias=request.alias, reason=reason))
            if isinstance(request, ContainerOver):
                self._left.append(Found(reason, place=self.place.name(request.alias)))

    def _start(self, wanted: ContainerWanted) -> None:
        argv = self.place.container(wanted).argv()
        called = call(argv, give_up=self._give_up_starts)
        if called.exit_code is None:
            self.gave_up = True
        if called.exit_code == 0:
            self._say(ContainerStarted(alias=wanted.alias))
        else:
            self._say(ContainerFailed(alias=wanted.alias, reason=f"{argv[0]} run: {called.last_line}"))

    def _set_up(self, wanted: RootSetupWanted) -> None:
        name = self.place.name(wanted.alias)
        order = root_setup_order(wanted.script, env=wanted.env)
        argv = root_setup_argv(self.place.own.runtime, name)
        called = call(argv, seconds=wanted.seconds, given=order, give_up=self._give_up)
        self._say(RootSetupEnded(alias=wanted.alias, exit_code=called.exit_code, output=called.output))

    def _take_away(self, over: ContainerOver, start: Future[None] | None) -> None:
        """One that was entered ends with the runner's connection, and the engine removes it: no call is needed."""
        if start is not None:  # it came to a thread before this, so it never waits for this one
            wait([start])
        if self.place.own.keep:
            return
        if not over.entered:
            call([self.place.own.runtime, "rm", "--force", self.place.name(over.alias)])

    def end_setups(self) -> None:
        """End those as root that are under way, and begin none: the run is being left."""
        self._give_up.set()

    def close(self) -> None:
        """Begin nothing more, end setups at once and starts after START_GRACE_S, and wait for the rest.

        Raises LabError for what could not be taken away.
        """
        self.end_setups()
        grace = threading.Timer(START_GRACE_S, self._give_up_starts.set)
        grace.start()
        self._pool.shutdown(wait=True, cancel_futures=True)
        grace.cancel()
        if self._left:
            raise LabError(
                ErrorCode.ENGINE_FAILED,
                f"{len(self._left)} containers of attempts could not be taken away",
                found=self._left,
                next_step="labctl clean",
            )
