"""A suite of planned faults: for each kind one agent that handles it and one that does not, told by their case's id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SETTINGS = """\
revision = "faults-1"
clock = "2026-09-01T12:00:00Z"
default_agent = "caller"

[agents.caller]
adapter = "command"
command = ["python3", "{suite}/agents/caller.py"]
model = "scripted/talker"

[agents.talker]
adapter = "chat"
model = "scripted/talker"

[agents.by-header]
adapter = "command"
command = ["python3", "{suite}/agents/caller.py"]
select = "header"

[agents.elsewhere]
adapter = "command"
command = ["python3", "{suite}/agents/caller.py"]
model = "openai/gpt"

[limits]
seconds = 60
"""

TOOLS = [
    {
        "type": "function",
        "function": {"name": "lookup", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}},
        "http": {"method": "GET", "path": "/things/{id}"},
    }
]
ROUTES = [
    {
        "id": "lookup",
        "method": "GET",
        "path": "/things/{id}",
        "responses": [{"json": {"id": "1", "text": "a thing with a name that takes a while to be told" * 4}}],
    },
    {"id": "big", "method": "GET", "path": "/things/big", "priority": 5, "responses": [{"json": "x" * 400_000}]},
]

AGENT = '''\
"""Asks for one thing in the way that its case's id says: CASE.how, with a patient or a brittle heart."""
import json, os, socket, sys, time
from urllib.parse import urlsplit

task = json.load(sys.stdin)
how = os.environ["LAB_CASE_ID"].split(".")
PATIENT = how[-1] != "brittle"
ENOUGH_S = 0.25


class Trouble(Exception):
    pass


def fetch(path, base=task["fixtureUrl"], body=None, until_the_end=False, headers=""):
    """One GET, or POST of a body, on a connection of its own: status, headers and body; raises Trouble and OSError."""
    url = urlsplit(base)
    with socket.create_connection((url.hostname, url.port), timeout=5) as wire:
        method = "GET" if body is None else "POST"
        length = "" if body is None else f"content-type: application/json\\r\\ncontent-length: {len(body)}\\r\\n"
        head = f"{method} {url.path}{path} HTTP/1.1\\r\\nhost: x\\r\\n{headers}{length}\\r\\n"
        wire.sendall(head.encode() + (body or b""))
        got = b""
        while b"\\r\\n\\r\\n" not in got:
            got += piece_of(wire)
        head, _, rest = got.partition(b"\\r\\n\\r\\n")
        lines = head.decode().lower().split("\\r\\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        while len(rest) < int(fields["content-length"]):
            rest += piece_of(wire)
        if until_the_end:
            wire.shutdown(socket.SHUT_WR)
            while wire.recv(65536):
                pass
    return int(lines[0].split()[1]), fields, rest


def piece_of(wire):
    piece = wire.recv(65536)
    if not piece:
        raise Trouble("the connection ended before the answer did")
    return piece


def checked(answer):
    status, fields, body = answer
    if status != 200 or not fields.get("content-type", "").startswith("application/json"):
        raise Trouble(f"{status} {fields.get('content-type')}")
    return json.loads(body)


def ask():
    if "model" in how:
        body = json.dumps({"model": "talker", "messages": [{"role": "user", "content": "talk"}]}).encode()
        return checked(fetch("/chat/completions", base=task["modelUrl"], body=body))
    if "silent" in how:
        return None
    thing = "big" if "big" in how else "1"
    # long enough that a narrow bandwidth shows
    pad = "x-pad: " + "x" * 600 + "\\r\\n" if "bandwidth" in how else ""
    return checked(fetch(f"/things/{thing}", until_the_end="slow_close" in how and not PATIENT, headers=pad))


def main():
    began = time.monotonic()
    for _ in range(3 if "thrice" in how else 1):
        try:
            ask()
        except (Trouble, OSError, ValueError, KeyError) as trouble:
            print(type(trouble).__name__, trouble)
            if not PATIENT:
                raise SystemExit(3)
            if not any(word in how for word in ("network", "thrice")):
                ask()  # a bad answer is worth a second try
    if not PATIENT and time.monotonic() - began > ENOUGH_S:
        raise SystemExit(4)
    print(json.dumps({"type": "message", "text": "done"}))


main()
'''

SAYS_DONE = {"assertions": [{"type": "contains", "value": "done"}]}
RULES = [
    {"when": {"lastTool": "lookup"}, "reply": {"text": "done"}},
    {"when": {"text": "talk"}, "reply": {"text": "done"}},
    {"when": {"text": "look"}, "reply": {"toolCalls": [{"name": "lookup", "arguments": {"id": "1"}}]}},
]

TOXICS: dict[str, dict[str, int]] = {
    "latency": {"latency": 400},
    "bandwidth": {"rate": 1},
    "slow_close": {"delay": 700},
    "timeout": {"timeout": 150},
    "reset_peer": {"timeout": 0},
    "slicer": {"average_size": 1, "delay": 8_000},
    "limit_data": {"bytes": 40},
}
"""Every type with attributes that an agent in a hurry does not bear."""
RESPONSES: dict[str, dict[str, Any]] = {
    "status": {"value": 503},
    "malformed-json": {},
    "truncated": {"value": 20},
    "wrong-content-type": {},
    "empty": {},
    "timeout": {"value": 150},
}
STREAMS = ("downstream", "upstream")
HEARTS = ("patient", "brittle")


def toxic_case(kind: str, *how: str, stream: str = "downstream", **toxic: Any) -> dict[str, Any]:
    """A case with one toxic; its id says how the agent behaves."""
    planned = {"type": kind, "attributes": TOXICS[kind], "stream": stream, **toxic}
    return {"id": ".".join((kind, stream, "network", *how)), "faults": {"network": [planned]}}


def response_case(kind: str, *how: str, **fault: Any) -> dict[str, Any]:
    """A case with one response fault, on the first answer unless told otherwise."""
    planned = {"route": "lookup", "kind": kind, "times": 1, **RESPONSES[kind], **fault}
    return {"id": ".".join((kind, "response", *how)), "faults": {"responses": [planned]}}


def every_fault() -> Iterator[dict[str, Any]]:
    """Every type of toxic in both directions and every response fault, each for both hearts."""
    for heart in HEARTS:
        for kind in TOXICS:
            for stream in STREAMS:
                yield toxic_case(kind, heart, stream=stream)
        for kind in RESPONSES:
            yield response_case(kind, heart)


def write_fault_suite(root: Path, cases: list[dict[str, Any]]) -> Path:
    """A suite of these cases below `root`, which it returns."""
    for folder in ("agents", "models"):
        (root / folder).mkdir(parents=True)
    (root / "suite.toml").write_text(SETTINGS)
    (root / "agents" / "caller.py").write_text(AGENT)
    written = {
        "cases.json": {"cases": [{"input": "talk", "expect": SAYS_DONE, **case} for case in cases]},
        "routes.json": {"routes": ROUTES},
        "tools.json": {"tools": TOOLS},
        "state.json": {},
        "models/talker.json": {"rules": RULES},
    }
    for name, content in written.items():
        (root / name).write_text(json.dumps(content))
    return root
