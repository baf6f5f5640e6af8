"""Sixty cases of an agent that asks a slow route and answers: a run that a test can kill at any instant."""

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
SECRET = "DESK_TOKEN"
"""What the value of a command agent is named, which it says."""
_COMMAND = """\
revision = "fixtures-1"
clock = "2026-09-01T12:00:00Z"

[agents.desk]
adapter = "command"
command = ["python3", "-IS", "{suite}/desk.py"]
"""
_DESK = """\
import json, os, socket, sys, time
task = json.load(sys.stdin)
if os.fork() == 0:  # stays behind, in a session of its own, and holds nothing of its parent's
    os.setsid()
    os.closerange(0, 3)
    time.sleep(600)
    os._exit(0)
place, path = task["fixtureUrl"].removeprefix("http://").split("/", 1)
host, port = place.rsplit(":", 1)
with socket.create_connection((host, int(port))) as wire:
    wire.sendall(f"GET /{path}/orders/a-1 HTTP/1.1\\r\\nhost: {place}\\r\\nconnection: close\\r\\n\\r\\n".encode())
    while wire.recv(65536):
        pass
secret = os.environ["DESK_TOKEN"]
print("log: " + secret)
text = "it is five, by " + secret + ", which is told at such a length that it is cut"
print(json.dumps({"type": "message", "text": text}))
"""
_RULES = [
    {"when": {"lastTool": "lookup_order"}, "reply": {"text": "it is five"}},
    {"reply": {"toolCalls": [{"name": "lookup_order", "arguments": {"order_id": "a-1"}}]}},
]


def sixty_desks(root: Path) -> Path:
    """The same cases of a command agent that says its secret and leaves a descendant in each attempt."""
    root.mkdir()
    (root / "desk.py").write_text(_DESK)
    return sixty_cases(root, settings=_COMMAND)


def sixty_cases(root: Path, *, cases: int = CASES, delay_ms: int = 15, settings: str = _SETTINGS) -> Path:
    """The suite, written: every fifth case fails; returns its folder."""
    answer = {"json": {"$state": "/orders/{order_id}"}, "delayMs": delay_ms}
    route = {"id": "read-order", "method": "GET", "path": "/orders/{order_id}", "responses": [answer]}
    folder = SuiteFolder(root, settings=settings, routes=[route], rules=_RULES)
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
