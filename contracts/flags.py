"""The flags of a run that decide what runs, as they were given: what replay and resume ask for again."""

from __future__ import annotations

from typing import Literal

from contracts.record import Record


class Flags(Record):
    """None, false or empty where a flag was left out; the values of `-e` are on no disk."""

    agent: str | None = None
    """A name of the suite's, or the path or the registry reference of a docker-agent file."""
    model: str | None = None
    prompt: str | None = None
    seed: int | None = None
    timeout_seconds: float | None = None
    """None: [limits] decides; 0: no limit."""
    isolation: Literal["shared", "container"] | None = None
    base_image: str | None = None
    setup_root: bool = False
    no_setup: bool = False
    egress: bool = False
    container_runtime: str | None = None
    judge_model: str | None = None
    judge_votes: int = 1
    env: tuple[str, ...] = ()
    """The names that `-e` gave."""
    not_secret: tuple[str, ...] = ()
    baseline: str | None = None
    """As it was named; the run that `latest:JOB` found by its path."""
    regression_tolerance: str | None = None
    allow_drift: tuple[str, ...] = ()
    allow_removed: bool = False
