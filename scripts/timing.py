"""Times whole commands: a warm-up, then counted runs in turn, so that a drifting machine hits all of them alike."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Timed:
    """Wall seconds of one command."""

    median_s: float
    low_s: float
    high_s: float

    def __str__(self) -> str:
        return f"{self.median_s:7.3f} s  ({self.low_s:.3f} to {self.high_s:.3f})"


@dataclass(frozen=True)
class Subject:
    """One command to time; its exit status must be 0."""

    name: str
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str] | None = None


def time_in_turn(subjects: Sequence[Subject], *, runs: int, timeout_s: float = 300) -> dict[str, Timed]:
    """Median, lowest and highest wall time by name; raises CalledProcessError for a command that fails."""
    seconds: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for number in range(runs + 1):
        for subject in subjects:
            began = time.monotonic()
            subprocess.run(
                subject.argv,
                cwd=subject.cwd,
                env=subject.env,
                check=True,
                timeout=timeout_s,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            if number:  # the first round warms caches and is not counted
                seconds[subject.name].append(time.monotonic() - began)
    return {name: Timed(statistics.median(all_s), min(all_s), max(all_s)) for name, all_s in seconds.items()}


def say(text: str) -> None:
    """Print a line of the bench's result."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
