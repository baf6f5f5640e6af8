"""What an attempt in a container of its own costs, beside bare `docker run` of the same hardened image."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from scripts.timing import Subject, Timed, say, time_in_turn
from scripts.trivial_suite import write_trivial_suite

ROOT = Path(__file__).resolve().parent.parent
LABCTL = ROOT / ".venv" / "bin" / "labctl"
FEW, MANY = 4, 24
RUNS = 3
HARDENED = (
    "--rm --pull never --network none --user 10001:10001 --read-only --cap-drop ALL --security-opt no-new-privileges "
    "--memory 2048m --memory-swap 2048m --pids-limit 512 --tmpfs /work:exec,mode=1777 --tmpfs /tmp:mode=1777"
)
PEER_S = 0.24
"""An eval of `docker agent eval` at concurrency 2, in its own figures on such a machine."""


def main() -> int:
    """Time few and many attempts at concurrency 1 and 2, the floor likewise; the difference is one more attempt."""
    say(f"one more attempt in a container of its own ({FEW} to {MANY} cases)")
    if shutil.which("docker") is None or not (ROOT / ".env").is_file():
        say("  not run: no engine, or no images yet (make setup)")
        return 0
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        folder = Path(name)
        suites = {cases: write_trivial_suite(folder / f"suite-{cases}", cases=cases) for cases in (FEW, MANY)}
        subjects = [
            subject
            for concurrency in (1, 2)
            for cases, suite in suites.items()
            for subject in (
                _labctl(suite, cases, concurrency=concurrency, evidence=folder / "evidence"),
                _bare(suite, cases, concurrency=concurrency),
            )
        ]
        times = time_in_turn(subjects, runs=RUNS)
    for concurrency in (1, 2):
        ours, floor = (_one_more_s(times, name, concurrency) for name in ("labctl", "bare"))
        say(f"  concurrency {concurrency}: labctl                   {ours:7.3f} s")
        say(f"  concurrency {concurrency}: bare `docker run`        {floor:7.3f} s")
        say(f"  concurrency {concurrency}: ratio                    {ours / floor:7.2f}   (budget 1.3)")
        if concurrency == 2:  # noqa: PLR2004 - the peer's
            say(f"  concurrency 2: docker agent eval's own  {PEER_S:7.3f} s (on an idle machine)")
    return 0


def _labctl(suite: Path, cases: int, *, concurrency: int, evidence: Path) -> Subject:
    flags = ["--backend", "compose", "--isolation", "container", "--agent", "shell", "-c", str(concurrency)]
    argv = [str(LABCTL), "run", str(suite), *flags, "--evidence", str(evidence)]
    return Subject(f"labctl {concurrency} {cases}", argv, ROOT)


def _bare(suite: Path, cases: int, *, concurrency: int) -> Subject:
    image = next(line for line in (ROOT / ".env").read_text().splitlines() if line.startswith("AGENT_IMAGE="))
    mount = f"--mount type=bind,source={suite / 'agents'},target=/agents,readonly"
    run = f"docker run {HARDENED} {mount} --entrypoint sh {image.partition('=')[2]} /agents/bench.sh"
    return Subject(
        f"bare {concurrency} {cases}", ["sh", "-c", f"seq {cases} | xargs -P {concurrency} -I N {run}"], ROOT
    )


def _one_more_s(times: dict[str, Timed], name: str, concurrency: int) -> float:
    few, many = (times[f"{name} {concurrency} {cases}"].median_s for cases in (FEW, MANY))
    return (many - few) / (MANY - FEW)


if __name__ == "__main__":
    sys.exit(main())
