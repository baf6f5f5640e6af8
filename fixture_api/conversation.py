"""A chat-completions request as the rules of a scripted model look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contracts.record import Json

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_MAY_BE_SILENT = ("assistant", "function")
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Conversation:
    """The end of a conversation, and how it is to be answered."""

    turn: int
    """1 + the number of assistant messages."""
    last_tool: str | None
    """The tool whose result is the last message; None where another message is last."""
    text: str
    """The last message's text."""
    streamed: bool = False
    with_usage: bool = False
    """A stream that is to end with a chunk of usage."""


class BadConversationError(ValueError):
    """The request is none that the service could answer; the text says why."""

    def __init__(self, reason: str, *, param: str, needs_more_choices: bool = False) -> None:
        super().__init__(reason)
        self.param = param
        """The member of the request that is wrong, such as `messages[0].role`."""
        self.needs_more_choices = needs_more_choices
        """The request is right, but the scripted model cannot answer it."""


def read_conversation(body: Json) -> Conversation:
    """What the rules look at; everything else that clients send (tools, sampling, formats) is taken and not looked at.

    Raises:
        BadConversationError: the body is no chat-completions request, or asks for more than one choice.

    """
    messages = _messages(body)
    last = messages[-1]
    streamed = _flag(body, "stream")
    options = body.get("stream_options") or {}
    if not isinstance(options, dict) or (options and not streamed):
        raise BadConversationError("expected an object, and only together with stream: true", param="stream_options")
    choices = body.get("n")
    if choices is not None and (choices != 1 or isinstance(choices, bool)):
        is_right = isinstance(choices, int) and choices > 1
        raise BadConversationError("the scripted model makes one choice", param="n", needs_more_choices=is_right)
    return Conversation(
        turn=1 + sum(message["role"] == "assistant" for message in messages),
        last_tool=_tool_of(last, messages) if last["role"] == "tool" else None,
        text=_text_of(last.get("content")),
        streamed=streamed,
        with_usage=_flag(options, "include_usage"),
    )


def _messages(body: Json) -> list[Mapping[str, Json]]:
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages:
        raise BadConversationError(
            "expected a JSON object (content-type: application/json) with a list of at least one message",
            param="messages",
        )
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadConversationError("expected an object", param=f"messages[{index}]")
        if message.get("role") not in _ROLES:
            found = repr(message.get("role"))[:_MAX_SHOWN]
            known = ", ".join(_ROLES)
            raise BadConversationError(f"expected one of {known}; found {found}", param=f"messages[{index}].role")
        _check_content(message, param=f"messages[{index}].content")
    return messages


def _check_content(message: Mapping[str, Json], *, param: str) -> None:
    """An assistant that called tools, or a function, may have said nothing; all others say a text or parts."""
    content = message.get("content")
    if isinstance(content, str) or (content is None and message["role"] in _MAY_BE_SILENT):
        return
    if not isinstance(content, list):
        raise BadConversationError("expected a text or a list of parts", param=param)
    for index, part in enumerate(content):
        if not isinstance(part, dict):
            raise BadConversationError("expected an object", param=f"{param}[{index}]")
        if part.get("type", "text") == "text" and not isinstance(part.get("text"), str):
            raise BadConversationError("expected a text", param=f"{param}[{index}].text")


def _flag(options: Mapping[str, Json], name: str) -> bool:
    value = options.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadConversationError("expected true or false", param=name)
    return bool(value)


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
