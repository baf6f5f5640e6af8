"""What the user asked of one run: the flags of `labctl run` as one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contracts.plan import Capture, Isolation


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Flags as they were given; None where a flag was left out and a default is decided later."""

    suite: Path
    agent: str | None
    model: str | None
    prompt: str | None
    case_ids: tuple[str, ...]
    only: tuple[str, ...]
    repeat: int
    """How often each case is attempted."""
    concurrency: int
    seed: int | None
    timeout_s: float | None
    """None: [limits] decides; 0: no limit."""
    suite_timeout_s: float | None
    """For all attempts together; None: no limit."""
    profiles: tuple[str, ...]
    """By name; those of a job are known once the suite was read."""
    evidence: Path
    run_id: str | None
    capture: Capture
    env: tuple[str, ...]
    """`KEY` or `KEY=VALUE`, as given."""
    not_secret: tuple[str, ...]
    isolation: Isolation | None = None
    """None: what the agent and the cases need."""
    base_image: str | None = None
    setup_root: bool = False
    no_setup: bool = False
    egress: bool = False
    keep_containers: bool = False
    container_runtime: str | None = None
    """Another program for `docker`, for the containers of attempts."""
    env_from_file: Path | None = None
    """Values for the judge, the provider keys and -e KEY."""
    judge_model: str | None = None
    """None: the suite decides."""
    judge_votes: int = 1
    job: str | None = None
    """[jobs.NAME] of the suite, which names the profiles instead."""
    baseline: Path | None = None
    """A run as `driver.run_names` reads it; None: nothing is compared."""
    regression_tolerance: str | None = None
    """As typed: only decimals say exactly what was meant."""
    allow_drift: tuple[str, ...] = ()
    allow_removed: bool = False
    command: tuple[str, ...]
    """The command line, for the record, with every value of -e taken out."""
