"""make bench: each budget of the lab beside a floor or a peer in the same run; prints, never judges."""

from __future__ import annotations

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


def main() -> int:
    """Run every bench that this machine can run; what cannot run is named with the reason."""
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        _bench_help()
        _bench_cases(folder)
        _bench_compose(folder)
    for part in ("memory", "adapters", "compare", "containers", "faults", "observe", "fixture_api"):
        subprocess.run([sys.executable, "-m", f"scripts.bench_{part}"], cwd=ROOT, check=True)
    return 0


def _bench_help() -> None:
    times = time_in_turn(
        [
            Subject("labctl --help", [str(LABCTL), "--help"], ROOT),
            Subject("floor: python -c 'import click'", [sys.executable, "-c", "import click"], ROOT),
        ],
        runs=RUNS,
    )
    say("start-up (budget 0.15 s)")
    for subject, timed in times.items():
        say(f"  {subject:<40} {timed}")


def _bench_cases(folder: Path) -> None:
    subjects = []
    for cases in (1, 200, 2000):
        suite = write_trivial_suite(folder / f"suite-{cases}", cases=cases)
        argv = [str(LABCTL), "run", str(suite), "--backend", "process", "--evidence", str(folder / "evidence")]
        subjects.append(Subject(f"labctl run, {cases} trivial cases", argv, ROOT))
    times = time_in_turn(subjects, runs=RUNS)
    say("trivial cases, process backend, sealed evidence included (budget 200: 1.5 s)")
    for subject, timed in times.items():
        say(f"  {subject:<40} {timed}")
    one, two_hundred, two_thousand = (timed.median_s for timed in times.values())
    say(f"  one more case, 1 to 200                  {(two_hundred - one) / 199 * 1000:7.2f} ms (budget 3 ms)")
    say(
        f"  one more case, 200 to 2000               {(two_thousand - two_hundred) / 1800 * 1000:7.2f} ms (budget 3 ms)"
    )


def _bench_compose(folder: Path) -> None:
    say("Compose: labctl beside the bare `docker compose run` and `down` of the same stack (budget: + 0.5 s)")
    if shutil.which("docker") is None or not (ROOT / ".env").is_file():
        say("  not run: no engine, or no images yet (make setup)")
        return
    suite = write_trivial_suite(folder / "suite-compose", cases=1)
    evidence = folder / "by-hand"
    evidence.mkdir()
    evidence.chmod(0o777)  # the container's user writes here, whoever runs the bench
    compose = f"docker compose --progress quiet -p labctl-bench --project-directory {ROOT} -f {ROOT}/compose.yaml"
    mounts = f"LAB_SUITE={suite} LAB_EVIDENCE={evidence}"
    bare = f"{mounts} {compose} --profile eval run --rm -T eval-runner && {mounts} {compose} --profile '*' down"
    labctl = [str(LABCTL), "run", str(suite), "--backend", "compose", "--evidence", str(folder / "evidence")]
    imports = [sys.executable, "-c", "import click, pydantic, python_on_whales"]
    times = time_in_turn(
        [
            Subject("labctl run --backend compose", labctl, ROOT),
            Subject("bare run + down", ["sh", "-c", bare], ROOT),
            Subject("floor: what its libraries take to load", imports, ROOT),
        ],
        runs=RUNS,
    )
    for subject, timed in times.items():
        say(f"  {subject:<40} {timed}")
    ours, floor, _ = (timed.median_s for timed in times.values())
    say(f"  over the bare stack                      {ours - floor:7.3f} s")


if __name__ == "__main__":
    sys.exit(main())
