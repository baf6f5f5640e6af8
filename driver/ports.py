"""What the pipeline needs of a backend; the backends and the tests' fakes implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contracts.attempt import AttemptRecord
from contracts.lines import RunnerStarted
from contracts.plan import Backend, ImageIdentity, Plan

Progress = Callable[[RunnerStarted | AttemptRecord], None]
"""Told when an attempt starts and when it is finished."""
LogLine = Callable[[str, str], None]
"""Takes the name of a service and one line of its log; may be called from any thread."""


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
    agent_file: StagedAgentFile | None = None
    """Present exactly for a docker-agent agent."""


@dataclass(frozen=True)
class EngineFacts:
    """Versions of what carries the stack; None where there is none."""

    engine: str | None = None
    compose: str | None = None


class Stack(Protocol):
    """One way to run the lab's services."""

    backend: Backend
    not_enforced: tuple[str, ...]
    """Limits of [limits] that this backend does not enforce."""

    def preflight(self, *, needs_agent: bool) -> dict[str, ImageIdentity]:
        """Check everything that can be checked before a start; the images that will run, by service.

        Raises:
            LabError: with exit 4, naming every problem at once.

        """
        ...

    def facts(self) -> EngineFacts:
        """Versions, for the manifest."""
        ...

    def running(self, world: World, *, log: LogLine) -> AbstractContextManager[Iterator[str]]:
        """The stack, up: an iterator over the runner's stdout lines, which ends when the runner does.

        Leaving the context ends everything that was started, also after an error or an interrupt.

        Raises:
            LabError: STACK_UNHEALTHY and other errors of exit 4 while it starts.

        """
        ...
