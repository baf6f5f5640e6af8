"""What the chat loop needs of a model, whoever serves it, and how the end of a conversation is told."""

from __future__ import annotations

from typing import Protocol

from providers.conversation import Session
from runner.agents.interface import Assignment, Ending


class ChatModel(Protocol):
    """A model that holds conversations; one object serves all attempts, from many threads at once."""

    def begin(self, assignment: Assignment) -> Session:
        """A new conversation; its `ask` raises ModelTroubleError."""
        ...

    def end(self, session: Session) -> None:
        """Leave what a conversation had to itself."""
        ...


class ModelTroubleError(Exception):
    """The model gave nothing to go on with."""

    def __init__(self, ending: Ending, *, detail: str = "") -> None:
        super().__init__(ending.reason)
        self.ending = ending
        self.detail = detail
        """Text of the service; for the log only."""


def system_text(assignment: Assignment) -> str | None:
    """The system message: prompt, blank line, policy; None where there is neither."""
    return "\n\n".join(text.rstrip("\n") for text in (assignment.prompt, assignment.policy) if text) or None
