"""The fixture API's scripted model as the chat loop asks it: OpenAI's protocol, on the attempt's own URL."""

from __future__ import annotations

import json

from contracts.json_text import parse_json
from contracts.record import Json
from providers.conversation import Reply, Session, ToolCall, object_of
from runner.agents.chat_model import ModelTroubleError, system_text
from runner.agents.data_port import DataPort
from runner.agents.interface import Assignment, Ending, EndKind
from runner.http_calls import Exchange, TimedOutError, UnreachableError

_OK = range(200, 300)
_HEADERS = {"content-type": "application/json"}


class ScriptedModel:
    """Asks the fixture API (`runner.agents.chat_model.ChatModel`)."""

    def __init__(self, port: DataPort) -> None:
        self._port = port

    def begin(self, assignment: Assignment) -> ScriptedSession:
        """A new conversation."""
        server, prefix = self._port.at(assignment.model_url)
        return ScriptedSession(assignment, server=server, prefix=prefix)

    def end(self, session: Session) -> None:
        """Nothing is to leave: no connection is kept but those that all share."""


class ScriptedSession:
    """A conversation with the scripted model (`providers.conversation.Session`)."""

    def __init__(self, assignment: Assignment, *, server: Exchange, prefix: str) -> None:
        self._server = server
        self._trace = assignment.trace
        self._target = f"{prefix}/chat/completions"
        self._is_faulted = assignment.model_is_faulted
        self._messages: list[Json] = []
        if system := system_text(assignment):
            self._messages.append({"role": "system", "content": system})
        self._request = _request(assignment, self._messages)

    def tell(self, text: str) -> None:
        """Add what the user says."""
        self._messages.append({"role": "user", "content": text})

    def answer(self, call: ToolCall, text: str) -> None:
        """Add the result of a call."""
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    def ask(self, *, seconds: float) -> Reply:
        """What the model says next; raises ModelTroubleError."""
        body = json.dumps(self._request, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            headers = {**_HEADERS, **self._trace.headers()}
            answer = self._server.exchange("POST", self._target, body=body, headers=headers, seconds=seconds)
        except (TimedOutError, UnreachableError) as trouble:
            # the model is the lab's own: only a planned fault on it makes its silence one that an agent has to bear
            kind = EndKind.AGENT_ERROR if self._is_faulted else EndKind.INFRASTRUCTURE
            reason = f"the scripted model gave no answer: {trouble}"
            raise ModelTroubleError(Ending(kind=kind, reason=reason)) from trouble
        if answer.status not in _OK:
            raise _failed(f"the model answered {answer.status}", answer.body)
        try:
            reply = _reply(parse_json(answer.body))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as trouble:
            raise _failed("the model's answer is no chat completion", answer.body) from trouble
        self._messages.append(_as_message(reply))
        return reply


def _request(assignment: Assignment, messages: list[Json]) -> dict[str, Json]:
    agent = assignment.agent
    optional = {"temperature": agent.temperature, "max_tokens": agent.max_output_tokens}
    request: dict[str, Json] = {
        "model": (agent.model or "").partition("/")[2],
        "messages": messages,
        "seed": assignment.conditions.seed,
        **{key: value for key, value in optional.items() if value is not None},
    }
    if assignment.tools:
        request["tools"] = [tool.offered() for tool in assignment.tools]
    return request


def _failed(reason: str, body: bytes) -> ModelTroubleError:
    ending = Ending(kind=EndKind.AGENT_ERROR, reason=reason)
    return ModelTroubleError(ending, detail=f"{reason}: {body.decode(errors='replace')}")


def _as_message(reply: Reply) -> dict[str, Json]:
    """The reply as a message of the conversation."""
    message: dict[str, Json] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.written}}
            for call in reply.calls
        ]
    return message


def _reply(completion: Json) -> Reply:
    message = completion["choices"][0]["message"]
    usage = completion.get("usage") or {}
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise TypeError("content is no text")
    return Reply(
        text=text,
        calls=tuple(map(_call, message.get("tool_calls") or ())),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _call(call: Json) -> ToolCall:
    function = call["function"]
    return ToolCall(
        id=_text(call["id"]),
        name=_text(function["name"]),
        arguments=object_of(_text(function["arguments"])),
        written=function["arguments"],
    )


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
