"""A planned reply as the bytes of OpenAI's chat completions, in one piece or as a stream of events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.scripted_model import Reply, ScriptedUsage
from fixture_api.answers import Answer, json_bytes, make_answer, make_head

_JSON_HEAD = make_head(HTTPStatus.OK, {"content-type": "application/json"})
_STREAM_HEAD = make_head(HTTPStatus.OK, {"content-type": "text/event-stream; charset=utf-8"})
_DONE = b"data: [DONE]\n\n"

_WORDS = re.compile(r"\s*\S+|\s+")
_ARGUMENTS_PIECE = 16
"""Characters of arguments in one chunk, at most."""

# ASCII only: there are clients that take U+0085 or U+2028 for the end of an event's line.
_ENCODE = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Envelope(NamedTuple):
    """What all parts of one answer have in common, and what makes the next answer's ids other ones."""

    completion_id: str
    created: int
    model: str
    turn: int


class Sayable(NamedTuple):
    """An answer, and where a planned cut falls in it."""

    answer: Answer
    half: int
    """Bytes: half of the body, or the first half of a stream's chunks and never the one that ends it."""


def whole(reply: Reply, envelope: Envelope) -> Sayable:
    """The reply as one `chat.completion`; without usage in the reply it has none."""
    completion = _common(envelope, "chat.completion") | {"choices": [choice(reply, turn=envelope.turn)]}
    if reply.usage:
        completion["usage"] = _usage(reply.usage)
    body = json_bytes(completion)
    return Sayable(make_answer(_JSON_HEAD, body), len(body) // 2)


def stream(reply: Reply, envelope: Envelope, *, with_usage: bool) -> Sayable:
    """The same reply as `chat.completion.chunk` events: role, words, calls with their arguments in pieces, the end.

    With usage, every chunk has the member `usage` and the last one the numbers, if the reply has any.
    """
    common = _common(envelope, "chat.completion.chunk")
    absent: dict[str, Json] = {"usage": None} if with_usage else {}
    finish = choice(reply, turn=envelope.turn)["finish_reason"]
    deltas = [(delta, None) for delta in _deltas(reply, turn=envelope.turn)] + [({}, finish)]
    events = [
        _event(common | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]} | absent)
        for delta, reason in deltas
    ]
    half = sum(map(len, events[: (len(events) + 1) // 2]))
    if with_usage and reply.usage:
        events.append(_event(common | {"choices": [], "usage": _usage(reply.usage)}))
    return Sayable(make_answer(_STREAM_HEAD, b"".join([*events, _DONE])), half)


def choice(reply: Reply, *, turn: int) -> dict[str, Json]:
    """The one choice of a completion."""
    message: dict[str, Json] = {"role": "assistant", "content": _content(reply), "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = _calls(reply, turn=turn)
    finish_reason = "tool_calls" if reply.tool_calls else "stop"
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}


def _content(reply: Reply) -> str | None:
    return "" if reply.text is None and not reply.tool_calls else reply.text


def _calls(reply: Reply, *, turn: int) -> list[dict[str, Json]]:
    return [
        {
            "id": f"call_{turn}_{index}",
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":")),
            },
        }
        for index, call in enumerate(reply.tool_calls)
    ]


def _deltas(reply: Reply, *, turn: int) -> Iterator[dict[str, Json]]:
    content = _content(reply)
    yield {"role": "assistant", "content": content and "", "refusal": None}
    for words in _WORDS.findall(content or ""):
        yield {"content": words}
    for index, call in enumerate(_calls(reply, turn=turn)):
        function = call["function"]
        yield {"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]}
        for piece in _pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(arguments: str) -> Iterator[str]:
    """At least two: an agent that takes the first for the whole has to fail."""
    size = min(_ARGUMENTS_PIECE, len(arguments) // 2)
    for start in range(0, len(arguments), size):
        yield arguments[start : start + size]


def _common(envelope: Envelope, kind: str) -> dict[str, Json]:
    return {
        "id": envelope.completion_id,
        "object": kind,
        "created": envelope.created,
        "model": envelope.model,
    }


def _usage(usage: ScriptedUsage) -> dict[str, Json]:
    read, written = usage.input_tokens, usage.output_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _event(chunk: dict[str, Json]) -> bytes:
    return f"data: {_ENCODE(chunk)}\n\n".encode()
