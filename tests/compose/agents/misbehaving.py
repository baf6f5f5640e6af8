"""An agent that breaks another rule in every case; all but `behaves` also give the right answer where they can."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from typing import Any

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def say(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


def answer() -> None:
    say({"type": "message", "text": "the answer"})


def look_up() -> None:
    with urllib.request.urlopen(os.environ["FIXTURE_URL"] + "/orders/a-1", timeout=10) as response:  # noqa: S310 - http
        response.read()


def leave_a_child() -> None:
    """In a session of its own, deaf to SIGTERM, and with this process's standard output."""
    subprocess.Popen([sys.executable, "-c", STUBBORN], start_new_session=True)


def crash() -> None:
    answer()
    os.kill(os.getpid(), signal.SIGSEGV)


def exit_with_3() -> None:
    answer()
    sys.exit(3)


def report_an_error() -> None:
    answer()
    say({"type": "error", "message": "I could not do it"})


def break_the_protocol() -> None:
    answer()
    say({"type": "message", "words": "no text"})


def hang() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leave_a_child()
    answer()
    while True:
        time.sleep(60)


def leave_a_child_and_go() -> None:
    leave_a_child()
    answer()


def say_nothing() -> None:
    """Exit 0 without a word."""


def claim_a_call() -> None:
    say({"type": "tool_call", "name": "lookup_order", "arguments": {"order_id": "a-1"}, "status": 200})
    answer()


def hide_a_call() -> None:
    look_up()
    answer()


def call_too_often() -> None:
    answer()
    for _ in range(50):
        look_up()


def flood() -> None:
    answer()
    while True:
        print("x" * 1000)


CASES: dict[str, Callable[[], None]] = {
    "behaves": answer,
    "crashes": crash,
    "exits-with-3": exit_with_3,
    "reports-an-error": report_an_error,
    "breaks-the-protocol": break_the_protocol,
    "hangs": hang,
    "leaves-a-child": leave_a_child_and_go,
    "says-nothing": say_nothing,
    "claims-a-call": claim_a_call,
    "claims-a-forbidden-call": claim_a_call,
    "hides-a-forbidden-call": hide_a_call,
    "calls-too-often": call_too_often,
    "floods": flood,
}
CASES[json.load(sys.stdin)["caseId"]]()
