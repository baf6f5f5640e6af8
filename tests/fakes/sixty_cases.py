"""Sixty cases of a chat agent that asks a slow route and answers: a run that a test can kill at any instant."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.suite_folder import SuiteFolder

CASES = 60
_SETTINGS = """\
revision = "fixtures-1"
clock = "2026-09-01T12:00:00Z"
default_agent = "support"

[agents.support]
adapter = "chat"
model = "scripted/support"
"""
_RULES = [
    {"when": {"lastTool": "lookup_order"}, "reply": {"text": "it is five"}},
    {"reply": {"toolCalls": [{"name": "lookup_order", "arguments": {"order_id": "a-1"}}]}},
]


def sixty_cases(root: Path, *, cases: int = CASES, delay_ms: int = 15) -> Path:
    """The suite, written: every fifth case fails; returns its folder."""
    answer = {"json": {"$state": "/orders/{order_id}"}, "delayMs": delay_ms}
    route = {"id": "read-order", "method": "GET", "path": "/orders/{order_id}", "responses": [answer]}
    folder = SuiteFolder(root, settings=_SETTINGS, routes=[route], rules=_RULES)
    folder.cases = [
        {
            "id": f"case-{number:02}",
            "input": "how much?",
            "expect": {
                "toolCalls": [{"name": "lookup_order"}],
                "assertions": [{"type": "contains", "value": "six" if number % 5 == 0 else "five"}],
            },
        }
        for number in range(1, cases + 1)
    ]
    return folder.write()
