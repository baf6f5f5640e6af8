"""Writes docker-agent sessions of every shape that its versions have, all of our own making."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def said(role: str, content: str, *, tools: tuple[str, ...] = (), agent: str = "", **keys: Any) -> dict[str, Any]:
    """One message of a session, as the newer versions write it."""
    message: dict[str, Any] = {"role": role, "content": content, "created_at": "2026-09-01T12:00:00Z"}
    if tools:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            for number, name in enumerate(tools)
        ]
    return {"message": {"agent_name": agent, "message": message, **keys}}


def old_style(item: dict[str, Any]) -> dict[str, Any]:
    """The message as older versions wrote it."""
    inner = item["message"]
    return {"message": {"agentFilename": "./agent.yaml", "agentName": inner["agent_name"], "message": inner["message"]}}


def session(*items: dict[str, Any], title: str | None = "A question", **evals: Any) -> dict[str, Any]:
    """A session; without any item the user says hello."""
    written: dict[str, Any] = {
        "id": "0a1b2c3d",
        "messages": list(items) or [said("user", "hello")],
        "created_at": "2026-09-01T12:00:00Z",
        "tools_approved": True,
        "SendUserMessage": True,
        "max_iterations": 0,
        "input_tokens": 12,
        "cost": 0.004,
    }
    return written | ({"title": title} if title is not None else {}) | ({"evals": evals} if evals else {})


def write_sessions(root: Path, sessions: dict[str, Any], *, files: dict[str, str] | None = None) -> Path:
    """A folder with one NAME.json for each session, and other files as they are; returns the folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, value in sessions.items():
        (root / f"{name}.json").write_text(json.dumps(value, indent=1, ensure_ascii=False))
    for name, text in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
