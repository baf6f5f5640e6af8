"""make bench-peers: 200 equal cases of pydantic-evals and Inspect beside ours, in one run; prints, never judges."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from scripts.timing import Subject, say, time_in_turn
from scripts.trivial_suite import write_trivial_suite

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".venv-peers"
LOCK = ROOT / "scripts" / "peers" / "requirements.lock"
CASES = 200
RUNS = 5


def main() -> int:
    """Install the peers into an environment of their own, then time the three in turn."""
    python = _peers_python()
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        suite = write_trivial_suite(folder / "suite", cases=CASES)
        evidence = str(folder / "evidence")
        labctl = str(ROOT / ".venv" / "bin" / "labctl")
        times = time_in_turn(
            [
                Subject("labctl", [labctl, "run", str(suite), "--backend", "process", "--evidence", evidence], ROOT),
                Subject("pydantic-evals", [python, str(_peer("pydantic_evals_cases")), str(CASES)], folder),
                Subject("Inspect", [python, str(_peer("inspect_cases")), str(CASES)], folder),
            ],
            runs=RUNS,
        )
    say(f"{CASES} trivial cases, whole command, median of {RUNS} (ours seals its evidence)")
    for subject, timed in times.items():
        say(f"  {subject:<16} {timed}")
    ours = times["labctl"].median_s
    say(f"  ours / pydantic-evals: {ours / times['pydantic-evals'].median_s:.2f} (budget 1.5)")
    say(f"  ours / Inspect:        {ours / times['Inspect'].median_s:.2f} (budget 0.25)")
    return 0


def _peer(name: str) -> Path:
    return ROOT / "scripts" / "peers" / f"{name}.py"


def _peers_python() -> str:
    """The interpreter of the peers' environment, installed again when the lock is newer than it."""
    python, stamp = PEERS / "bin" / "python", PEERS / ".installed"
    if not stamp.is_file() or stamp.stat().st_mtime < LOCK.stat().st_mtime:
        venv.create(PEERS, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", LOCK], check=True)
        stamp.touch()
    return str(python)


if __name__ == "__main__":
    sys.exit(main())
