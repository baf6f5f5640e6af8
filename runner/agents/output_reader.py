"""What the adapters need of whoever understands the output of one kind of agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from contracts.attempt import Usage
from runner.agents.interface import Ending, ToolEvent
from runner.texts import BoundedText


class OutputReader(Protocol):
    """Reads the output of one attempt."""

    log: BoundedText
    """Everything that is no event."""

    @property
    def texts(self) -> Sequence[str]:
        """The assistant's texts so far."""
        ...

    @property
    def calls(self) -> Sequence[ToolEvent]:
        """The tool calls so far; a later event may say more about one, never take one away."""
        ...

    @property
    def usage(self) -> Usage:
        """What was consumed so far."""
        ...

    def feed(self, text: str) -> None:
        """Take a piece of standard output, of any size."""
        ...

    def feed_stderr(self, text: str) -> None:
        """Take a piece of standard error, of any size."""
        ...

    def finish(self) -> None:
        """There is no more; a second time does nothing."""
        ...

    def failure(self, *, exit_code: int | None, trusts_provider: bool) -> Ending | None:
        """What the output says went wrong, which goes before what the exit status says.

        Args:
            exit_code: the exit status; None after a signal, or where there is no process.
            trusts_provider: the agent's word that the provider of its model failed counts: the model is outside, and no
                planned fault was on it.

        """
        ...
