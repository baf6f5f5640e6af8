"""What one more case costs at eight side by side: on the chat and the command adapter, beside bare spawning."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from scripts.timing import Subject, Timed, say, time_in_turn
from scripts.trivial_suite import write_trivial_suite

ROOT = Path(__file__).resolve().parent.parent
LABCTL = ROOT / ".venv" / "bin" / "labctl"
CONCURRENCY = 8
FEW, MANY = 200, 1000
RUNS = 3


def main() -> int:
    """Time both adapters and the floor with few and with many cases; the difference is what one more case costs."""
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        suites = {cases: write_trivial_suite(folder / f"suite-{cases}", cases=cases) for cases in (FEW, MANY)}
        subjects = [
            _subject(name, cases, suite, evidence=folder / "evidence")
            for cases, suite in suites.items()
            for name in ("bench", "shell", "spawn")
        ]
        times = time_in_turn(subjects, runs=RUNS)
    say(f"one more case at concurrency {CONCURRENCY}, process backend ({FEW} to {MANY} cases)")
    chat, command, floor = (_one_more_ms(times, name) for name in ("bench", "shell", "spawn"))
    say(f"  chat adapter                             {chat:7.2f} ms")
    say(f"  command adapter                          {command:7.2f} ms")
    say(f"  floor: the same program spawned bare     {floor:7.2f} ms")
    say(f"  command adapter over its floor           {command - floor:7.2f} ms (budget 3 ms)")
    return 0


def _subject(name: str, cases: int, suite: Path, *, evidence: Path) -> Subject:
    if name == "spawn":
        bare = f"seq {cases} | xargs -P {CONCURRENCY} -n 1 sh {suite / 'agents' / 'bench.sh'}"
        return Subject(f"{name} {cases}", ["sh", "-c", bare], ROOT)
    flags = ["--backend", "process", "--agent", name, "-c", str(CONCURRENCY), "--evidence", str(evidence)]
    return Subject(f"{name} {cases}", [str(LABCTL), "run", str(suite), *flags], ROOT)


def _one_more_ms(times: dict[str, Timed], name: str) -> float:
    return (times[f"{name} {MANY}"].median_s - times[f"{name} {FEW}"].median_s) / (MANY - FEW) * 1000


if __name__ == "__main__":
    sys.exit(main())
