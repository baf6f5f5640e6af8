"""What a trace costs: the same run with and without --profile observe, in turn, and what becomes of 5 000 spans."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.timing import Subject, say, time_in_turn
from scripts.trivial_suite import write_trivial_suite

ROOT = Path(__file__).resolve().parent.parent
LABCTL = ROOT / ".venv" / "bin" / "labctl"
RUNS = 5
CASES, MANY_CASES = 200, 1000
BUDGET = 1.2


def main() -> int:
    """Bench the process backend, and Compose where it can run."""
    has_engine = shutil.which("docker") is not None and (ROOT / ".env").is_file()
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        suites = {cases: write_trivial_suite(folder / f"suite-{cases}", cases=cases) for cases in (CASES, MANY_CASES)}
        for backend in ("process", *(("compose",) if has_engine else ())):
            _compare(backend, suites[CASES], folder)
            _count(backend, suites[MANY_CASES], folder)
    if not has_engine:
        say("observe on Compose: not run: no engine, or no images yet (make setup)")
    return 0


def _argv(backend: str, suite: Path, folder: Path, *flags: str) -> list[str]:
    return [str(LABCTL), "run", str(suite), "--backend", backend, "--evidence", str(folder / "evidence"), *flags]


def _compare(backend: str, suite: Path, folder: Path) -> None:
    clean = Subject("clean", _argv(backend, suite, folder), ROOT)
    observed = Subject("--profile observe", _argv(backend, suite, folder, "--profile", "observe"), ROOT)
    times = time_in_turn([clean, observed], runs=RUNS)
    say(f"observe, {CASES} trivial cases, backend {backend} (budget {BUDGET} x the clean run)")
    for subject, timed in times.items():
        say(f"  {subject:<40} {timed}")
    say(f"  ratio                                    {times[observed.name].median_s / times[clean.name].median_s:7.2f}")


def _count(backend: str, suite: Path, folder: Path) -> None:
    argv = _argv(backend, suite, folder, "--profile", "observe")
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads((Path(done.stdout.splitlines()[-1]) / "environment.json").read_text())["telemetry"]
    say(f"  {found['spansMade']} spans made, {found['spansWritten']} written, {found['spansLost']} lost (budget 0)")


if __name__ == "__main__":
    sys.exit(main())
