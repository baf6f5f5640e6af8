"""Writes small suites: a right one by default, and any file of it replaced or changed."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SETTINGS = """\
revision = "fixtures-1"
clock = "2026-09-01T12:00:00Z"
default_agent = "support"
policy = { revision = "policy-1", file = "policies/policy.md" }

[prompts.polite]
file = "prompts/polite.md"

[agents.support]
adapter = "chat"
model = "scripted/support"
prompt = "polite"

[agents.desk]
adapter = "command"
command = ["python3", "{suite}/agents/desk.py"]
"""

CASE = {
    "id": "greets",
    "input": "hello",
    "expect": {"assertions": [{"type": "contains", "value": "hello"}]},
}

ROUTE = {
    "id": "read-order",
    "method": "GET",
    "path": "/orders/{order_id}",
    "responses": [{"json": {"$state": "/orders/{order_id}"}}],
}

TOOL = {
    "type": "function",
    "function": {
        "name": "lookup_order",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    },
    "http": {"method": "GET", "path": "/orders/{order_id}"},
}

RULE = {"reply": {"text": "hello"}}


@dataclass
class SuiteFolder:
    """A suite that is right until a test changes it; `write` puts it on disk."""

    root: Path
    settings: str = SETTINGS
    cases: list[Any] = field(default_factory=lambda: [copy.deepcopy(CASE)])
    routes: list[Any] = field(default_factory=lambda: [copy.deepcopy(ROUTE)])
    tools: list[Any] = field(default_factory=lambda: [copy.deepcopy(TOOL)])
    state: Any = field(default_factory=lambda: {"orders": {"a-1": {"amount": 5}}, "a": {}})
    rules: list[Any] = field(default_factory=lambda: [copy.deepcopy(RULE)])
    texts: dict[str, str] = field(default_factory=dict)
    """Files by path, written after the others and as they are."""
    contents: dict[str, bytes] = field(default_factory=dict)
    """Files that are no text."""
    links: dict[str, str] = field(default_factory=dict)
    """Links by path, each to its target; they take the place of what is there."""

    def write(self) -> Path:
        """Every file of the suite; returns its folder."""
        files = {
            "suite.toml": self.settings,
            "cases.json": _json({"cases": self.cases}),
            "routes.json": _json({"routes": self.routes}),
            "tools.json": _json({"tools": self.tools}),
            "state.json": _json(self.state),
            "models/support.json": _json({"rules": self.rules}),
            "prompts/polite.md": "Be polite.\n",
            "policies/policy.md": "No refunds.\n",
            "agents/desk.py": "print('hello')\n",
        } | self.texts
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
        for name, content in self.contents.items():
            (self.root / name).write_bytes(content)
        for name, target in self.links.items():
            (self.root / name).unlink(missing_ok=True)
            (self.root / name).symlink_to(target)
        return self.root


def _json(value: Any) -> str:
    return json.dumps(value, indent=1)
