"""models/NAME.json: the rules of a scripted model."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contracts.record import Json, Record


class When(Record):
    """All parts that are given must hold."""

    case: str | None = None
    prompt: str | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    """1 + the number of assistant messages in the request."""
    last_tool: str | None = None
    """The tool whose result is the last message of the request."""
    last_status: Annotated[int, Field(ge=200, le=599)] | None = None
    """The HTTP status that was last served to a tool call in this attempt; only where a tool result is last."""
    text: str | None = None
    """A regular expression (RE2) that is searched in the last message's content."""


class ScriptedCall(Record):
    """A tool call that the model makes."""

    name: str
    arguments: dict[str, Json] = Field(default_factory=dict)


class ScriptedError(Record):
    """An error that the model's service answers."""

    status: Annotated[int, Field(ge=400, le=599)]
    headers: dict[str, str] = Field(default_factory=dict)


class ScriptedUsage(Record):
    """Tokens that the reply is said to have cost."""

    input_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(ge=0)] = 0


class Reply(Record):
    """What the model says: text, tool calls or both, or an error."""

    text: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    error: ScriptedError | None = None
    usage: ScriptedUsage | None = None
    """Absent: the answer tells no tokens, because none were counted; `{}` tells zeros."""
    cut: bool = False
    """The connection closes half-way through the answer: a stream's chunks or the body of one that is not streamed."""


class Rule(Record):
    """The first rule whose `when` holds answers."""

    when: When = When()
    reply: Reply


class ModelFile(Record):
    """models/NAME.json."""

    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]
