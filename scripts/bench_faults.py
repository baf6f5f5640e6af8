"""What faults cost: a proxy made, read back and ended; its witness over thousands of attempts; the profile alone."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from contracts.suite.fault import Toxic
from driver.stacks.toxiproxy import toxiproxy
from runner.faults.proxies import FaultProxies
from scripts.timing import Subject, say, time_in_turn
from scripts.trivial_suite import write_trivial_suite
from tests.fakes.keep_alive_loop import Upstream, made_attempts
from tests.fakes.toxiproxies import NONE, find_toxiproxy

ROOT = Path(__file__).resolve().parent.parent
LABCTL = ROOT / ".venv" / "bin" / "labctl"
RUNS = 5
CASES = 200
PROXIES = 5000
WITNESSED = 3000
THREADS = 4
LATENCY = Toxic(type="latency", attributes={"latency": 1})


def main() -> int:
    """Print every figure; what cannot run is named with the reason."""
    _bench_profile()
    program = find_toxiproxy()
    if program is None:
        say(f"  not run: {NONE}")
        return 0
    with Upstream() as upstream, toxiproxy(Path(program), upstream=upstream.address, log=lambda *_: None) as where:
        proxies = FaultProxies(where, slots=1)
        _bench_proxies(proxies, upstream)
        proxies.close()
        proxies = FaultProxies(where, slots=THREADS)
        wrong = sum(one.told != one.did for one in made_attempts(proxies, upstream, count=WITNESSED, threads=THREADS))
        proxies.close()
    say(f"  the witness of {WITNESSED} attempts whose connections stay open: wrong {wrong} times (budget 0)")
    return 0


def _bench_profile() -> None:
    """A run without any toxic, with and without the profile."""
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        suite = write_trivial_suite(folder / "suite", cases=CASES)
        argv = [str(LABCTL), "run", str(suite), "--backend", "process", "--evidence", str(folder / "evidence")]
        times = time_in_turn(
            [Subject("clean", argv, ROOT), Subject("--profile fault", [*argv, "--profile", "fault"], ROOT)], runs=RUNS
        )
    say(f"faults: {CASES} trivial cases without any toxic, process backend")
    for subject, timed in times.items():
        say(f"  {subject:<40} {timed}")
    clean, fault = (timed.median_s for timed in times.values())
    say(f"  --profile fault over clean               {fault / clean:7.2f} x (budget 1.3 x)")


def _bench_proxies(proxies: FaultProxies, upstream: Upstream) -> None:
    """What an attempt with one toxic takes beside what its agent does."""
    url = f"http://{upstream.address}/~x"
    spent_ms = []
    for _ in range(PROXIES):
        began = time.monotonic()
        with proxies.around([LATENCY], fixture_url=url, model_url=url) as attempt:
            made = time.monotonic()
            upstream.ask(attempt.fixture_url).close()
            asked = time.monotonic()
        spent_ms.append(1000 * (time.monotonic() - asked + made - began))
    say("a proxy made with one toxic, read back, ended and counted, for each attempt (budget 5 ms)")
    for name, part in (("attempts 1 to 10", spent_ms[:10]), (f"the last 100 of {PROXIES}", spent_ms[-100:])):
        say(f"  {name:<40} {_told(part)}")


def _told(spent_ms: Sequence[float]) -> str:
    return f"{statistics.median(spent_ms):7.2f} ms  ({min(spent_ms):.2f} to {max(spent_ms):.2f})"


if __name__ == "__main__":
    sys.exit(main())
