"""What the pipeline needs of a backend; the backends and the tests' fakes implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from contracts.attempt import AttemptRecord
from contracts.lines import RunnerStarted
from contracts.plan import Backend, ImageIdentity, Plan, Program
from contracts.suite.suite import Suite
from contracts.tries import LastTry

Progress = Callable[[RunnerStarted | AttemptRecord], None]
"""Told when an attempt starts and when it is finished."""
LogLine = Callable[[str, str], None]
"""Takes the name of a service and one line of its log; may be called from any thread."""


@dataclass(frozen=True)
class UserServices:
    """What compose_files of the suite bring: services as Compose has them, and their images, by name."""

    services: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    images: Mapping[str, ImageIdentity] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OwnContainers:
    """What the containers of attempts are made of, for the isolation `container`."""

    image_of_case: Mapping[str, str]
    """Case id to a key of plan.images."""
    working_dirs: Mapping[str, str]
    """Case id to its folder in the suite, relative to the suite's root; without the cases that have none."""
    mounts: Mapping[str, Path] = field(default_factory=dict)
    """Path in the containers to a folder of this machine that all may read, beside the agent's view of the suite."""
    keep: bool = False
    runtime: str = "docker"
    """The program that starts and ends them."""


@dataclass(frozen=True, kw_only=True)
class StagedAgentFile:
    """A docker-agent file with its folder, as a run uses them."""

    folder: Path
    """The staged copy, readable by anybody."""
    file: str
    """Its name in the folder."""
    text: str | None
    """What runs instead of it (see `contracts.order.DockerAgentOrder.text`); None: the file as it is."""
    binary: Path | None
    """The program of this machine; None where it comes from an image."""


@dataclass(frozen=True, kw_only=True)
class World:
    """Everything that a backend needs to bring one run up."""

    plan: Plan
    suite: Path
    """The staged suite, readable by anybody."""
    agent_suite: Path
    """The staged copy without the expectations."""
    agent_env: Mapping[str, str]
    suite_root: Path
    """The suite as it was named, which paths in its compose files lead to."""
    services: UserServices = UserServices()
    own_containers: OwnContainers | None = None
    """None: all attempts share one."""
    spans_folder: Path | None = None
    """Where the spans of the run are written; None: none are made."""
    agent_file: StagedAgentFile | None = None
    """Present exactly for a docker-agent agent."""
    finished: tuple[LastTry, ...] = ()
    """Of a run that is gone on with."""


@dataclass(frozen=True)
class RunnerTalk:
    """A runner that was started."""

    lines: Iterator[str]
    """What it prints, line by line; ends when the runner does."""
    tell: Callable[[str], None]
    """Gives it a line, from any thread; does nothing where it is gone."""


@dataclass(frozen=True)
class EngineFacts:
    """Versions of what carries the stack; None where there is none."""

    engine: str | None = None
    compose: str | None = None


@dataclass(frozen=True)
class KeptContainer:
    """A container of an attempt that --keep-containers left running."""

    attempt: str
    """`case#attempt`."""
    command: str
    """What enters it."""


class Stack(Protocol):
    """One way to run the lab's services."""

    backend: Backend
    kept: Sequence[KeptContainer]
    """After `running`: what it left running because it was asked to."""
    not_enforced: tuple[str, ...]
    """Limits of [limits] that this backend does not enforce."""

    def user_services(self, suite: Suite, *, profiles: tuple[str, ...], env: Mapping[str, str]) -> UserServices:
        """What compose_files of the suite bring under those profiles; `env` are the variables that they may use.

        Raises:
            LabError: exit 2 for unknown profiles, unset variables and all that a compose file may not do; 4 for missing
                images.

        """
        ...

    def preflight(
        self, *, needs_agent: bool, bases: Mapping[str, str] | None = None, profiles: Sequence[str] = ()
    ) -> dict[str, ImageIdentity]:
        """Check everything that can be checked before a start; the images that will run, by service.

        `bases` are references of what containers of attempts are made from, by their keys in plan.images; `profiles`
        bring services of the lab.

        Raises:
            LabError: with exit 4, naming every problem at once.

        """
        ...

    def fault_proxy(self, cases: Sequence[str]) -> Program | None:
        """The toxiproxy of this machine that applies the network faults of these cases.

        None where there are none, and where it runs from an image. Raises LabError FAULT_PROXY_MISSING.
        """
        ...

    def facts(self) -> EngineFacts:
        """Versions, for the manifest."""
        ...

    def running(self, world: World, *, log: LogLine) -> AbstractContextManager[RunnerTalk]:
        """The stack, up, with its runner.

        Leaving the context ends everything that was started, also after an error or an interrupt.

        Raises:
            LabError: STACK_UNHEALTHY and other errors of exit 4 while it starts.

        """
        ...
