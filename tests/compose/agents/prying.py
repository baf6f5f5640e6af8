"""An agent that tries, while another attempt runs beside it, to read or change that attempt: it says what it got.

The case `victim` makes a request, waits until the other one has tried everything, and makes a second one.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BEGAN = Path("/tmp/victim-began")  # noqa: S108 - in the container
PRIED = Path("/tmp/pried")  # noqa: S108 - in the container
URL = urlsplit(os.environ["FIXTURE_URL"])
OWN = URL.path
VICTIM = "victim"
PATIENCE_S = 120


def wait_for(path: Path) -> None:
    """Until it is there, but not for ever."""
    until = time.monotonic() + PATIENCE_S
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)


def ask(
    method: str, target: str, body: Any = None, *, port: int | None = None, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    """Status and text; 0 where nobody answers."""
    connection = http.client.HTTPConnection(URL.hostname or "", port or URL.port, timeout=5)
    sent = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        text = json.dumps(body).encode() if body is not None else b""
        for name, value in {**sent, "content-length": str(len(text)), "content-type": "application/json"}.items():
            connection.putheader(name, value)
        connection.endheaders(text)
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    except OSError:
        return 0, ""
    finally:
        connection.close()


def by_guess() -> Iterator[tuple[str, dict[str, str]]]:
    """Neighbours of the own prefix, and what prefixes could look like."""
    number = int(OWN[2:], 16)
    for guess in (
        *(f"{(number + step) % 2**128:032x}" for step in (-3, -2, -1, 1, 2, 3)),
        "0" * 32,
        "f" * 32,
        "*",
        VICTIM,
    ):
        yield f"/~{guess}/orders/a-1", {}


def by_path() -> Iterator[tuple[str, dict[str, str]]]:
    """Out of the own world, and to what other servers have at such places."""
    for path in ("/..", "/%2e%2e", "/..%2f", "//", "/../../victim", "/~victim", "/%2f~victim"):
        yield f"{OWN}{path}/orders/a-1?tried=1", {}
        yield f"{path}/orders/a-1", {}
    for page in (
        "attempts",
        "attempts/close",
        "attempts/breach",
        "journal",
        "state",
        "cases.json",
        "expectations",
        "admin",
        "docs",
    ):
        yield f"/{page}", {}
        yield f"{OWN}/{page}", {}


def by_header() -> Iterator[tuple[str, dict[str, str]]]:
    """The header that selects a case by hand, and others that proxies believe."""
    for prefix in ("", OWN):
        yield f"{prefix}/orders/a-1", {"x_eval_case": VICTIM}
        yield (
            f"{prefix}/orders/a-1",
            {"x_eval_case": VICTIM, "x_lab_attempt": "1", "x_lab_fixture_url": "http://localhost"},
        )
    for name in ("x_original_url", "x_rewrite_url", "x_forwarded_prefix", "forwarded", "host"):
        yield "/orders/a-1", {name: VICTIM, "x_eval_case": VICTIM}


def by_port() -> Iterator[int]:
    """Whether the control port, which is on another network, answers under the name that the agent knows."""
    record = {"case": VICTIM, "attempt": 1}
    for path in ("/attempts/close", "/attempts/breach", "/attempts"):
        yield ask("POST", path, record, port=8081)[0]


def tried() -> dict[str, Any]:
    """How often each answer came, and every text that tells of the other attempt."""
    statuses: dict[str, int] = {}
    telling = []
    for way in (by_guess, by_path, by_header):
        for target, headers in way():
            for method in ("GET", "PUT"):
                status, text = ask(method, target, {"amount": 0}, headers=headers)
                statuses[f"{way.__name__} {status}"] = statuses.get(f"{way.__name__} {status}", 0) + 1
                if '"amount"' in text and status == 200:
                    telling.append(target.replace(OWN, "OWN"))
    return {"statuses": statuses, "telling": telling, "control": sorted(set(by_port()))}


def in_proc() -> dict[str, Any]:
    """What /proc tells of the other attempt's processes, and what can be done with it."""
    urls = set()
    readable = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environ = dict(each.partition("=")[::2] for each in (process / "environ").read_text().split("\0") if each)
        except OSError:
            continue
        if environ.get("LAB_CASE_ID") != VICTIM:
            continue
        urls.add(environ["FIXTURE_URL"])
        readable += [name for name in ("cmdline", "cwd", "fd", "mem", "maps") if os.access(process / name, os.R_OK)]
    found = [ask("GET", urlsplit(url).path + "/orders/a-1?pried=1")[0] for url in sorted(urls)]
    return {"urls": len(urls), "readable": sorted(set(readable)), "answered": found}


def say(report: dict[str, Any]) -> None:
    """The answer of the attempt; with its own secret, so that it can be looked for, but not as it is."""
    print(json.dumps({"type": "message", "text": json.dumps({**report, "backwards": OWN[:1:-1]})}))


json.load(sys.stdin)
if os.environ["LAB_CASE_ID"] == VICTIM:
    before = ask("GET", f"{OWN}/orders/a-1")
    BEGAN.touch()
    wait_for(PRIED)
    say({"before": before, "after": ask("GET", f"{OWN}/orders/a-1")})
else:
    wait_for(BEGAN)
    pried = tried()
    say({**pried, "waited": BEGAN.exists(), "proc": in_proc()})
    PRIED.touch()
