"""One call of a chat model that speaks OpenAI's protocol, and what can go wrong with it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from contracts.record import Json
from runner.http_calls import Exchange
from runner.json_values import parse_json

_OK = range(200, 300)
_HEADERS = {"content-type": "application/json"}


@dataclass(frozen=True)
class ModelCall:
    """A tool call that the model asks for; `arguments` is None where they are no JSON object."""

    id: str
    name: str
    arguments: dict[str, Json] | None
    written: str
    """The arguments as the model wrote them."""


@dataclass(frozen=True)
class ModelReply:
    """What the model said; tokens are None where it does not tell."""

    text: str | None
    calls: tuple[ModelCall, ...]
    input_tokens: int | None
    output_tokens: int | None

    def as_message(self) -> dict[str, Json]:
        """The reply as a message of the conversation."""
        message: dict[str, Json] = {"role": "assistant", "content": self.text}
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.written}}
                for call in self.calls
            ]
        return message


class ModelFailedError(Exception):
    """The model's service answered with an error, or with something that is no reply."""

    def __init__(self, reason: str, *, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail
        """Text of the service; for the log only."""


def ask_model(server: Exchange, request: dict[str, Json], *, prefix: str, seconds: float) -> ModelReply:
    """One chat completion.

    Raises:
        ModelFailedError: the service refused, failed, or gave no reply of that protocol.
        runner.http_calls.UnreachableError, runner.http_calls.TimedOutError: nothing came.

    """
    body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    answer = server.exchange("POST", prefix + "/v1/chat/completions", body=body, headers=_HEADERS, seconds=seconds)
    if answer.status not in _OK:
        raise ModelFailedError(f"the model answered {answer.status}", detail=answer.body.decode(errors="replace"))
    try:
        return _reply(parse_json(answer.body))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as trouble:
        detail = answer.body.decode(errors="replace")
        raise ModelFailedError("the model's answer is no chat completion", detail=detail) from trouble


def _reply(completion: Json) -> ModelReply:
    message = completion["choices"][0]["message"]
    usage = completion.get("usage") or {}
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise TypeError("content is no text")
    return ModelReply(
        text=text,
        calls=tuple(map(_call, message.get("tool_calls") or ())),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _call(call: Json) -> ModelCall:
    function = call["function"]
    return ModelCall(
        id=_text(call["id"]),
        name=_text(function["name"]),
        arguments=_object(_text(function["arguments"])),
        written=function["arguments"],
    )


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _object(written: str) -> dict[str, Json] | None:
    try:
        value = parse_json(written)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
