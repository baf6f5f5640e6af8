"""Times `labctl compare` on sealed runs of 1 000 and 100 000 cases, beside the bare reading of the same bytes."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.large_runs import write_large_run
from scripts.timing import say

ROOT = Path(__file__).resolve().parent.parent
_BUDGETS = {1_000: "0.4 s", 100_000: "3 s, 400 MB"}
_RUNS = 3
_FAILING = 5
_REGRESSION = 1
_COMMAND = "from driver.cli.main import main; main()"


def main() -> int:
    """Make the runs, then time the whole command; prints, never judges."""
    say("labctl compare of two sealed runs, whole command, verification included")
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        for cases, budget in _BUDGETS.items():
            folder = Path(name) / str(cases)
            runs = [
                write_large_run(folder, run_id=run_id, cases=cases, failing=failing, prompt=run_id)
                for run_id, failing in (("v6", 0), ("v7", _FAILING))
            ]
            times = sorted(_seconds(runs) for _ in range(_RUNS))
            read = f"floor: sha256 of both {_hashing_seconds(runs):.3f} s"
            say(f"  {cases:>7} cases  {times[0]:7.3f} s  (to {times[-1]:.3f}; budget {budget}; {read})")
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    say(f"  largest process  {peak_mb} MB; there are two of them where a run is large")
    return 0


def _seconds(runs: list[Path]) -> float:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, "compare", *map(str, runs)], cwd=ROOT, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode != _REGRESSION:
        raise RuntimeError(f"labctl compare ended with {done.returncode}")
    return time.monotonic() - began


def _hashing_seconds(runs: list[Path]) -> float:
    began = time.monotonic()
    for run in runs:
        subprocess.run(["sha256sum", "--check", "--quiet", "COMPLETE"], cwd=run, check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
