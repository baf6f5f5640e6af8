"""What an attempt in a container of its own costs, beside bare `docker run` of the same hardened image."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from scripts.timing import say
from scripts.trivial_suite import write_trivial_suite

ROOT = Path(__file__).resolve().parent.parent
LABCTL = ROOT / ".venv" / "bin" / "labctl"
CASES, ROUNDS, FIRST = 16, 3, 2
"""The pace is that from the third attempt on: the first ones wait for nothing that was begun ahead."""
HARDENED = (
    "--rm --pull never --network none --user 10001:10001 --read-only --cap-drop ALL --security-opt no-new-privileges "
    "--memory 2048m --memory-swap 2048m --pids-limit 512 --tmpfs /work:exec,mode=1777 --tmpfs /tmp:mode=1777"
)
PEER_S = 0.24
"""An eval of `docker agent eval` at concurrency 2, in its own figures on such a machine."""


def main() -> int:
    """Measure both in turn, so that a slow moment of the machine meets both; whole runs would drown it."""
    say(f"an attempt in a container of its own ({CASES} cases, median of {ROUNDS} rounds)")
    if shutil.which("docker") is None or not (ROOT / ".env").is_file():
        say("  not run: no engine, or no images yet (make setup)")
        return 0
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        suite = write_trivial_suite(folder / "suite", cases=CASES)
        for concurrency in (1, 2):
            rounds = [
                (_ours_s(suite, folder / "evidence", concurrency), _bare_s(suite, concurrency)) for _ in range(ROUNDS)
            ]
            _report(rounds, concurrency)
    say(f"  concurrency 2: docker agent eval's own  {PEER_S:7.3f} s (on an idle machine)")
    return 0


def _ours_s(suite: Path, evidence: Path, concurrency: int) -> float:
    flags = ["--backend", "compose", "--isolation", "container", "--agent", "shell", "-c", str(concurrency)]
    argv = [str(LABCTL), "run", str(suite), *flags, "--evidence", str(evidence)]
    done = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True, timeout=600)
    run = Path(done.stdout.splitlines()[-1])
    lines = (run / "traces" / "attempts.jsonl").read_text().splitlines()
    starts = sorted(datetime.fromisoformat(json.loads(line)["startedAt"]) for line in lines)
    return (starts[-1] - starts[FIRST]).total_seconds() / (len(starts) - 1 - FIRST)


def _bare_s(suite: Path, concurrency: int) -> float:
    named = next(line for line in (ROOT / ".env").read_text().splitlines() if line.startswith("AGENT_IMAGE="))
    mount = f"--mount type=bind,source={suite / 'agents'},target=/agents,readonly"
    run = f"docker run {HARDENED} {mount} --entrypoint sh {named.partition('=')[2]} /agents/bench.sh"
    began_s = time.monotonic()
    pipeline = f"seq {CASES} | xargs -P {concurrency} -I N {run}"
    subprocess.run(["sh", "-c", pipeline], check=True, stdout=subprocess.DEVNULL, timeout=600)
    return (time.monotonic() - began_s) / CASES


def _report(rounds: list[tuple[float, float]], concurrency: int) -> None:
    ours, bare = (statistics.median(times) for times in zip(*rounds, strict=True))
    ratios = ", ".join(f"{mine / floor:.2f}" for mine, floor in rounds)
    say(f"  concurrency {concurrency}: labctl                   {ours:7.3f} s")
    say(f"  concurrency {concurrency}: bare `docker run`        {bare:7.3f} s")
    say(f"  concurrency {concurrency}: ratios of the rounds     {ratios} (budget 1.3)")


if __name__ == "__main__":
    sys.exit(main())
