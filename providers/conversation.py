"""What is said to a model and what it answers, whoever serves it; nothing here loads a client library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from contracts.json_text import parse_json
from contracts.record import Json


@dataclass(frozen=True)
class ToolCall:
    """A tool call that the model asks for; `arguments` is None where they are no JSON object."""

    id: str
    name: str
    arguments: dict[str, Json] | None
    written: str
    """The arguments as the model wrote them."""


@dataclass(frozen=True)
class Reply:
    """What the model said; tokens and cost are None where nobody told them."""

    text: str | None
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    is_cut: bool = False
    """It ends where its limit of tokens was."""


@dataclass(frozen=True)
class ToolOffer:
    """A function that the model may call; `parameters` is its JSON schema."""

    name: str
    description: str | None
    parameters: dict[str, Json]
    strict: bool = False


@dataclass(frozen=True)
class Sampling:
    """How a model is to write; None leaves it to the provider."""

    temperature: float | None = None
    seed: int | None = None
    max_output_tokens: int | None = None


class Session(Protocol):
    """A conversation with a model; it belongs to one thread."""

    def tell(self, text: str) -> None:
        """Add what the user says."""
        ...

    def answer(self, call: ToolCall, text: str) -> None:
        """Add the result of a call."""
        ...

    def ask(self, *, seconds: float) -> Reply:
        """What the model says next, which becomes part of the conversation."""
        ...


MAX_REPLY_BYTES = 8 * 1024 * 1024
"""Of one reply as it comes over the wire."""


class ProviderError(Exception):
    """The model's service refused, failed or was out of reach; the text names no value and quotes nobody."""

    def __init__(
        self,
        reason: str,
        *,
        detail: str = "",
        may_pass: bool = False,
        status: int | None = None,
        is_too_long: bool = False,
    ) -> None:
        super().__init__(reason)
        self.is_too_long = is_too_long
        """The reply was cut off at MAX_REPLY_BYTES."""
        self.detail = detail
        """What the service said; for a log that is redacted."""
        self.may_pass = may_pass
        """Asking again may help: 429, 5xx, or no connection."""
        self.status = status
        """The HTTP status of a refusal; None where there was no answer, or one that is no reply."""


def object_of(written: str) -> dict[str, Json] | None:
    """The JSON object that a model wrote as arguments, or None where it is none."""
    try:
        value = parse_json(written)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
