"""An agent of known behaviour: it does what its case is called, and with --worse it pays too much."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import sys
import time
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

SECONDS = 50
A_WHILE_S = 0.25
"""Less than the delay of the network fault, and more than a call without it takes on a machine that can be used."""
STUCK_S = 20
TASK = json.load(sys.stdin)


def say(text: str) -> None:
    """Tell the lab."""
    event(type="message", text=text)


def event(**event: Any) -> None:
    """One line of the protocol."""
    print(json.dumps(event), flush=True)


def call(method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    """Status and JSON object of one request to the fixture API."""
    base = urlsplit(TASK["fixtureUrl"])
    connection = http.client.HTTPConnection(base.netloc, timeout=SECONDS)
    try:
        headers = {"content-type": "application/json"} if body else {}
        connection.request(method, base.path + path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    return response.status, json.loads(content) if response.status < HTTPStatus.BAD_REQUEST else {}


def color() -> str:
    """What the fixture API says of the one thing there is."""
    return str(call("GET", "/things/one")[1]["color"])


def answers_rightly() -> None:
    """Unless it is the worse agent."""
    say(f"It is {color()}.")
    call("POST", "/payments", {"amount": 6 if "--worse" in sys.argv else 5})


def answers_wrongly() -> None:
    """It asks, and says something else."""
    call("GET", "/things/one")
    say("It is blue.")


def pays_in_silence() -> None:
    """It does what it must not, and says nothing of it."""
    call("POST", "/payments", {"amount": 5})
    say("It is amber.")


def claims_a_call() -> None:
    """It says that it called a tool."""
    event(type="tool_call", name="lookup", arguments={"id": "one"}, status=200)
    say("It is amber.")


def crashes() -> None:
    """After it has said what was wanted."""
    say("done")
    sys.exit(3)


def is_stuck() -> None:
    """For so much longer than its limit that it ends by itself only where nobody ends it: then its case passes."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say("done")
    for _ in range(STUCK_S):
        time.sleep(1)


def tells_a_secret() -> None:
    """In its answer, in its log, plain and encoded."""
    secret = os.environ.get("LAB_SELF_TEST_TOKEN", "")
    encoded = base64.b64encode(secret.encode()).decode()
    print("log:", secret, encoded)
    print("log:", secret, encoded, file=sys.stderr)
    say(f"I have a secret of {len(secret)} characters: {secret}, {encoded}")


def meets_a_bad_answer() -> None:
    """And asks once more."""
    status, _ = call("GET", "/things/one")
    say(f"At first {status}. It is {color()}.")


def meets_a_slow_network() -> None:
    """And says whether it was."""
    began = time.monotonic()
    found = color()
    say(f"It is {found}" + (", after a while." if time.monotonic() - began >= A_WHILE_S else ", at once."))


def misses_its_fault() -> None:
    """It makes no call."""
    say("done")


DEEDS = (
    answers_rightly,
    answers_wrongly,
    pays_in_silence,
    claims_a_call,
    crashes,
    is_stuck,
    tells_a_secret,
    meets_a_bad_answer,
    meets_a_slow_network,
    misses_its_fault,
)

if __name__ == "__main__":
    {deed.__name__.replace("_", "-"): deed for deed in DEEDS}[TASK["caseId"]]()
