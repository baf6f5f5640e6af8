"""A model's service of real HTTP in a thread: answers as the test says, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, bytes]


@dataclass
class ModelService:
    """A running service."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    traceparents: list[str | None] = field(default_factory=list)


def completion(
    text: str | None = None,
    *calls: tuple[str, str],
    finish: str = "stop",
    usage: dict[str, int] | None = None,
    model: str = "some",
) -> Answer:
    """A chat completion; the arguments of a call are a text, right or wrong."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call-{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ]
    body = {
        "id": "one",
        "object": "chat.completion",
        "created": 1788264000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }
    return 200, json.dumps(body).encode()


@contextmanager
def model_service(answer: Callable[[dict[str, Any]], Answer | None]) -> Iterator[ModelService]:
    """Within: it answers on a loopback port, with one thread for each connection; None as an answer hangs up."""
    service = ModelService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            service.requests.append(request)
            service.keys.append(self.headers.get("authorization"))
            service.paths.append(self.path)
            service.traceparents.append(self.headers.get("traceparent"))
            answered = answer(request)
            if answered is None:
                self.close_connection = True
                return
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that did not wait for it
                self._send(*answered)

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - http.server's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
