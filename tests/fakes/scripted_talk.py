"""Conversations with a scripted model, asked without any socket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.open_world import OpenAttempt, open_attempt

PATH = "/v1/chat/completions"


USER = {"role": "user", "content": "Where is order 7?"}


def model(folder: Path, *rules: dict[str, Any], opening: dict[str, Any] | None = None, **files: Any) -> OpenAttempt:
    opening = {"model": "scripted/support", "prompt": "polite", **(opening or {})}
    return open_attempt(folder, rules=list(rules), opening=opening, **files)


def say(said: str, **when: Any) -> dict[str, Any]:
    return {"when": when, "reply": {"text": said}}


def text_of(one: OpenAttempt, *messages: dict[str, Any]) -> str | None:
    status, body = one.read("POST", PATH, {"messages": list(messages)})
    return body["choices"][0]["message"]["content"] if status == 200 else None


def assistant(*calls: str, content: str | None = None) -> dict[str, Any]:
    made = [{"id": f"id-{name}", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in calls]
    return {"role": "assistant", "content": content, **({"tool_calls": made} if made else {})}


def result(name: str, content: str = "{}") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"id-{name}", "content": content}


def tool(name: str) -> dict[str, Any]:
    function = {"name": name, "parameters": {}}
    return {"type": "function", "function": function, "http": {"method": "GET", "path": f"/{name}"}}
