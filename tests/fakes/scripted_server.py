"""A data port without sockets: answers of the model and of tools, given in order; it keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.http_calls import Answer
from tests.fakes.assignments import PREFIX

MODEL_TARGET = f"{PREFIX}/v1/chat/completions"


def says(text: str | None = None, *calls: tuple[str, Any], usage: dict[str, int] | None = None) -> Answer:
    """A model's reply; the arguments of a call are JSON, or a string as the model wrote it."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for number, (name, arguments) in enumerate(calls, start=1)
        ]
    return answers({"choices": [{"index": 0, "message": message}], "usage": usage})


def answers(value: Any, *, status: int = 200, content_type: str = "application/json") -> Answer:
    """An answer with a JSON body."""
    return Answer(status=status, body=json.dumps(value).encode(), content_type=content_type)


@dataclass
class ScriptedServer:
    """Implements `runner.http_calls.Exchange`; an exception in place of an answer is raised."""

    model: Iterable[Answer | Exception] = ()
    tools: Iterable[Answer | Exception] = ()
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies that the model got."""
    calls: list[tuple[str, str, bytes | None]] = field(default_factory=list)
    """Method, target and body of each call of a tool."""
    seconds: list[float] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._model, self._tools = iter(self.model), iter(self.tools)

    def exchange(
        self, method: str, target: str, *, seconds: float, body: bytes | None = None, headers: Mapping[str, str]
    ) -> Answer:
        assert body is None or headers["content-type"] == "application/json"
        self.seconds.append(seconds)
        self.headers.append(headers)
        if target == MODEL_TARGET:
            # the conversation goes on growing in place, so what was asked is its text
            self.requests.append(json.loads(body or b""))
            return _given(next(self._model))
        self.calls.append((method, target.removeprefix(PREFIX), body))
        return _given(next(self._tools))


def _given(answer: Answer | Exception) -> Answer:
    if isinstance(answer, Exception):
        raise answer
    return answer
