"""The runner's end of a real agent_host, and what tests ask of it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOST = Path(__file__).parents[2] / "agent_host" / "__main__.py"


PATIENCE_S = 20.0
"""How long a test waits for what comes at once on an idle machine."""


Message = dict[str, Any]


def python(code: str) -> list[str]:
    """The argv of an agent."""
    return [sys.executable, "-ISc", code]


def until(holds: Callable[[], bool]) -> bool:
    """Wait for a condition; false when it never holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not (is_held := holds()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return is_held


class Runner:
    """The runner's end of one agent_host; `mark` is in the environment of every agent, so that none can hide."""

    def __init__(self, work: Path, *, port: int | None = None, given: tuple[Path, Path] | None = None) -> None:
        self.work, self.mark = work, str(uuid.uuid4())
        way = ["--stdio"] if port is None else ["--listen", str(port), "--host", "127.0.0.1"]
        folders = ["--given", *map(str, given)] if given else []
        signals = ["/bin/sh", "-c", 'trap "" INT USR1; exec "$@"', "sh"]  # as under nohup: no agent may inherit that
        self.process = subprocess.Popen(
            [*signals, sys.executable, "-IS", str(HOST), *way, "--work", str(work), *folders],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOST_SECRET": "of the host alone"},
        )
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.seen: list[Message] = []
        self.may_read = threading.Event()
        self.may_read.set()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.may_read.wait()
            self.lines.put(line)

    def write(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def start(self, name: str, argv: list[str], **changes: object) -> None:
        """Order an attempt that has plenty of everything but for the changes."""
        order: Message = {"op": "start", "id": name, "argv": argv, "env": {}, "stdin": "", "seconds": PATIENCE_S}
        order |= {"outputBytes": 1 << 20, "graceSeconds": 0.1} | changes
        order["env"] = {"LAB_TEST_MARK": self.mark, "LAB_TEST_ATTEMPT": name, **order["env"]}
        self.write(json.dumps(order).encode() + b"\n")

    def end(self, name: str) -> None:
        self.write(json.dumps({"op": "end", "id": name}).encode() + b"\n")

    def wait(self, name: str, *ops: str) -> Message:
        """The first message with one of these ops about this attempt."""
        for known in self.seen:
            if known.get("id") == name and known["op"] in ops:
                return known
        while True:
            message: Message = json.loads(self.lines.get(timeout=PATIENCE_S))
            self.seen.append(message)
            if message.get("id") == name and message["op"] in ops:
                return message

    def result(self, name: str) -> Message:
        return self.wait(name, "ended", "failed")

    def run(self, argv: list[str], **changes: object) -> Message:
        self.start("a", argv, **changes)
        return self.result("a")

    def text(self, name: str, stream: str = "stdout") -> str:
        """All that this attempt printed so far."""
        pieces = [m for m in self.seen if m["op"] == "out" and m["id"] == name and m["stream"] == stream]
        return "".join(piece["text"] for piece in pieces)

    def agents(self, name: str | None = None) -> list[int]:
        """Every process of this runner's attempts, or of one of them, that is no zombie."""
        wanted = {f"LAB_TEST_MARK={self.mark}".encode()} | ({f"LAB_TEST_ATTEMPT={name}".encode()} if name else set())
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                if wanted <= set(environ.read_bytes().split(b"\0")):
                    found.append(int(environ.parent.name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def leave(self) -> int:
        """Close the connection; returns the exit code of the host."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.may_read.set()
        self.process.stdin.close()
        code = self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        self.process.stdout.close()
        return code
