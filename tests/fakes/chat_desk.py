"""The refund clerk of the sample suite as a chat endpoint; the suite that has it is a copy with one agent more."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.fakes.control_suites import agent_table

NAME = "chatting-desk"
PROGRAM = '''\
"""Answers the last message of each request; whose conversation it is tells the address of its tools."""
import http.server, json, os, pathlib
from datetime import date
from desk import Desk, Tools

TOOLS = json.loads(pathlib.Path(__file__).parents[1].joinpath("tools.json").read_text())["tools"]
TODAY = date.fromisoformat(os.environ["LAB_NOW"][:10])
desks = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        url = self.headers["x-lab-fixture-url"]
        policy = "".join(message["content"] for message in messages if message["role"] == "system")
        desk = desks.setdefault(url, Desk(Tools(TOOLS, url=url), policy=policy, today=TODAY))
        answer = {"role": "assistant", "content": desk.answer(messages[-1]["content"])}
        body = json.dumps({"choices": [{"message": answer}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
'''


def with_chatting_desk(sample: Path, to: Path) -> Path:
    """A copy of the sample suite with the agent `chatting-desk`; returns `to`.

    The endpoint is told the policy in the system message, which it has where the agent has a prompt.
    """
    shutil.copytree(sample, to)
    (to / "agents" / "chat_desk.py").write_text(PROGRAM)
    table = agent_table(
        NAME,
        "http",
        command=["python3", "{suite}/agents/chat_desk.py"],
        url="http://localhost:{port}/v1",
        protocol="openai",
        prompt="refund-v6",
        files=["agents/desk.py", "agents/chat_desk.py"],
    )
    settings = to / "suite.toml"
    settings.write_text(settings.read_text().replace("[limits]", table + "[limits]"))
    return to
