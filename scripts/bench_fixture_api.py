"""Measures the fixture API beside a bare FastAPI handler and a bare ASGI app that parse the same body, in one run.

Requests/s at 16 connections and p50 at one with wrk; 10 routes beside 1 000; start to healthy; memory and time of an
attempt after 100 and after 100 000. Server and client have a core each where there are two. The servers take turns;
what one is beside FastAPI is the median of what it was in each round: so a machine whose pace changes matters little.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.fixture_servers import CASE, Server, attempt_of, control, started, write_suite
from scripts.timing import say

ROUNDS = 5
ROUND_S = 2
MANY = 16
MORE_ATTEMPTS = 100_000
_RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
_P50 = re.compile(r"50%\s+([\d.]+)(us|ms|s)")
_ERRORS = re.compile(r"(Non-2xx or 3xx responses|Socket errors).*")
_IN_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


def main() -> None:
    """Every measurement that this machine can make; what cannot be made is named with the reason."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        small, large = write_suite(Path(name) / "small", routes=10), write_suite(Path(name) / "large", routes=1000)
        _bench_requests(small, large)
        _bench_start(small)
        _bench_attempts(small)


def _bench_requests(small: Path, large: Path) -> None:
    if shutil.which("wrk") is None:
        say("requests: not run: there is no `wrk` on PATH (Debian's package wrk)")
        return
    with (
        started("bare FastAPI handler", "fastapi") as bare,
        started("bare ASGI app", "asgi") as floor,
        started("fixture API", small) as ours,
        started("the same, 1000 routes", large) as larger,
    ):
        servers = (bare, floor, ours, larger)
        rates: dict[str, list[float]] = {server.name: [] for server in servers}
        p50s: dict[str, list[float]] = {server.name: [] for server in servers}
        for _ in range(ROUNDS):
            for server in servers:
                with attempt_of(server) as prefix:
                    rates[server.name].append(_wrk(server, prefix, connections=MANY)[0])
                    p50s[server.name].append(_wrk(server, prefix, connections=1)[1])
    say(f"{'':24}{f'req/s at {MANY}':>14}{'x FastAPI':>11}{'p50 ms at 1':>14}{'x FastAPI':>11}")
    for server in servers:
        rate, p50 = statistics.median(rates[server.name]), statistics.median(p50s[server.name])
        times, share = _beside(rates[server.name], rates[bare.name]), _beside(p50s[server.name], p50s[bare.name])
        say(f"{server.name:24}{rate:>14.0f}{times:>11.2f}{p50:>14.3f}{share:>11.2f}")
    say("budget of the fixture API: >= 2.50 x the requests/s, <= 0.70 x the p50; 1000 routes as quick as 10")


def _beside(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def _wrk(server: Server, prefix: str, *, connections: int) -> tuple[float, float]:
    """Requests/s and p50 in ms; an answer that is no 200 ends the bench."""
    script = Path(__file__).with_name("refund.lua")
    url = f"http://127.0.0.1:{server.data_port}{prefix}/orders/synthetic-42/refunds-7"
    argv = ["wrk", "-t1", f"-c{connections}", f"-d{ROUND_S}s", "--latency", "-s", str(script), url]
    text = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout
    rate, p50 = _RATE.search(text), _P50.search(text)
    if rate is None or p50 is None or _ERRORS.search(text):
        raise RuntimeError(f"not measured: {text}")
    return float(rate[1]), float(p50[1]) * _IN_MS[p50[2]]


def _bench_start(suite: Path) -> None:
    """From the start of the process to the first 200 of /health; floor: what its framework takes to load."""
    ready, floor = [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        with started("fixture API", suite) as server:
            control(server.control_port)("GET", "/health")
            ready.append(time.monotonic() - began)
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import fastapi, uvicorn, uvloop"], check=True, timeout=60)
        floor.append(time.monotonic() - began)
    say(f"start to healthy (budget 0.6 s)             {statistics.median(ready):.3f} s")
    say(f"floor: python -c 'import fastapi, uvicorn'  {statistics.median(floor):.3f} s")


def _bench_attempts(suite: Path) -> None:
    with started("fixture API", suite) as server:
        few_ms = _attempts_ms(server, 100)
        few_kb = server.memory_kb()
        many_ms = _attempts_ms(server, MORE_ATTEMPTS)
        many_kb = server.memory_kb()
    say(f"an attempt opened, asked once and closed    {few_ms:.2f} ms, after {MORE_ATTEMPTS}: {many_ms:.2f} ms")
    grown = (many_kb - few_kb) / 1024
    say(f"memory after 100 and {MORE_ATTEMPTS} attempts     {few_kb / 1024:.1f} and {many_kb / 1024:.1f} MB")
    say(f"  grown by {grown:.1f} MB (budget 20 MB)")


def _attempts_ms(server: Server, count: int) -> float:
    """The median time of the last hundred."""
    ask, data = control(server.control_port), control(server.data_port)
    taken = []
    for number in range(count):
        began = time.perf_counter()
        prefix = ask("POST", "/attempts", {"case": CASE, "attempt": number + 1})["prefix"]
        data("POST", f"{prefix}/orders/synthetic-42/refunds-7", {"kind": "refund"})
        ask("POST", "/attempts/close", {"case": CASE, "attempt": number + 1})
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[-100:]) * 1000


if __name__ == "__main__":
    main()
