"""An agent that tells its secret wherever it can, plain and in base64, and waits in between to be looked at."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

task = json.load(sys.stdin)
mark = os.environ["LABTEST_RUN"]
secret = os.environ["DESK_TOKEN"]
forms = [secret, base64.b64encode(f"user:{secret}".encode()).decode()]


def call(path: str, body: bytes | None = None, **headers: str) -> None:
    """A request; what the world has no route for is asked all the same."""
    request = urllib.request.Request(os.environ["FIXTURE_URL"] + path, data=body, headers=headers)  # noqa: S310 - http
    try:
        urllib.request.urlopen(request).read()  # noqa: S310 - http
    except urllib.error.HTTPError as error:
        print("refused:", error.read().decode())


def tell() -> None:
    """In its log, its requests and its events."""
    for form in forms:
        quoted = urllib.parse.quote(form, safe="")
        print("log:", form, flush=True)
        print("log:", form, file=sys.stderr, flush=True)
        call(f"/orders/{quoted}?q={quoted}", authorization=f"Bearer {quoted}")
        call("/notes", json.dumps({"note": form}).encode(), **{"content-type": "application/json"})
        print(json.dumps({"type": "tool_call", "name": "think", "arguments": {"of": form}}), flush=True)
        print(json.dumps({"type": "message", "text": f"the answer is {form}"}), flush=True)


tell()
idle = [sys.executable, "-c", "import time; time.sleep(600)", f"waits {mark} {task['caseId']}"]
with subprocess.Popen(idle) as child:
    while not Path(f"/tmp/go-on-{mark}").exists():  # noqa: S108 - in the container
        time.sleep(0.05)
    child.kill()
tell()
