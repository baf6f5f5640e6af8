"""The exit codes of labctl, one meaning each."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a process of the lab says with its exit status (CONTRACT: the table of exits)."""

    YES = 0
    """Every case passed; sealed and unchanged; no regression."""
    NO = 1
    """A case failed; a regression."""
    USAGE = 2
    """Usage or bad input: flags, suite files, a pattern that matches nothing."""
    CANNOT_TELL = 3
    """Some outcome is unknown, drift, not comparable."""
    ENVIRONMENT = 4
    """No engine, image missing, stack not healthy."""
    EVIDENCE = 5
    """Evidence that is unsealed, altered or truncated."""
    BUG = 70
    """A bug in labctl."""
    INTERRUPTED = 130
    """SIGINT; everything that was started is gone."""
    TERMINATED = 143
    """SIGTERM; everything that was started is gone."""
