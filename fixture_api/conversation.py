"""A chat-completions request as the rules of a scripted model look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contracts.record import Json


@dataclass(frozen=True, slots=True)
class Conversation:
    """The end of a conversation."""

    turn: int
    """1 + the number of assistant messages."""
    last_tool: str | None
    """The tool whose result is the last message; None where another message is last."""
    text: str
    """The last message's text."""


class BadConversationError(ValueError):
    """The request is no chat-completions request; the text says why."""


def read_conversation(body: Json) -> Conversation:
    """What the rules look at; raises BadConversationError."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        raise BadConversationError("the body must be a JSON object with `messages`, a list of at least one message")
    last = messages[-1]
    turn = 1 + sum(message.get("role") == "assistant" for message in messages)
    last_tool = _tool_of(last, messages) if last.get("role") == "tool" else None
    return Conversation(turn=turn, last_tool=last_tool, text=_text_of(last.get("content")))


def _tool_of(result: Mapping[str, Json], messages: list[Mapping[str, Json]]) -> str | None:
    call_id = result.get("tool_call_id")
    for call in _calls(messages):
        function = call.get("function")
        if call.get("id") == call_id and isinstance(function, dict) and isinstance(function.get("name"), str):
            return str(function["name"])
    name = result.get("name")
    return name if isinstance(name, str) else None


def _calls(messages: list[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    """Newest first: ids may come again in a long conversation."""
    for message in reversed(messages):
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield call


def _text_of(content: Json) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
