"""A model's service that fails as it is asked to; it runs where the chat loop reaches it, so it needs nothing else."""

import http.server
import json
import os
from typing import ClassVar

PORT = 8090


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers completions with the failure that the last message names."""

    protocol_version = "HTTP/1.1"
    statuses: ClassVar[dict[str, int]] = {"denied": 401, "busy": 429, "broken": 500}

    def do_POST(self) -> None:
        """Fail; for a word that is no status by hanging up."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status = self.statuses.get(request["messages"][-1]["content"])
        self.close_connection = True
        if status is None:
            return
        body = b'{"error": {"message": "private"}}'
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing."""


def service(host: str, port: int) -> http.server.ThreadingHTTPServer:
    """The service, bound and not yet serving."""
    return http.server.ThreadingHTTPServer((host, port), Provider)


if __name__ == "__main__":
    service(os.environ["HOST"], PORT).serve_forever()
