"""What each process of a run takes at most, for many cases beside few: memory is flat, so only the growth counts."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scripts.timing import say
from scripts.trivial_suite import write_trivial_suite

ROOT = Path(__file__).resolve().parent.parent
LABCTL = ROOT / ".venv" / "bin" / "labctl"
FEW, MANY = 1000, 20_000
_BUDGET_MB = 20
_EVERY_S = 0.02
_PARTS = {"-m runner": "runner", "-m fixture_api": "fixture API"}
DRIVER = "driver"


def main() -> int:
    """Run both suites once on the process backend and print the highest resident memory of each process."""
    with tempfile.TemporaryDirectory(prefix="labctl-bench-") as name:
        peaks, seconds = {}, {}
        for cases in (FEW, MANY):
            suite = write_trivial_suite(Path(name) / f"suite-{cases}", cases=cases)
            began = time.monotonic()
            peaks[cases] = _peaks_kb(suite, evidence=Path(name) / "evidence")
            seconds[cases] = time.monotonic() - began
    say(f"resident memory at its highest, process backend ({FEW} and {MANY} trivial cases, {_BUDGET_MB} MB to grow)")
    for part, few_kb in peaks[FEW].items():
        grown_kb = peaks[MANY][part] - few_kb
        say(
            f"  {part:<16} {few_kb / 1024:8.1f} and {peaks[MANY][part] / 1024:6.1f} MB: grown by {grown_kb / 1024:6.1f}"
            f" MB, {grown_kb * 1024 / (MANY - FEW):6.0f} bytes a case"
        )
    say(f"  one more case, {FEW} to {MANY}           {(seconds[MANY] - seconds[FEW]) / (MANY - FEW) * 1000:7.2f} ms")
    return 0


def _peaks_kb(suite: Path, *, evidence: Path) -> dict[str, int]:
    """The highest resident memory of each part of one run, which must pass; short children of it are left out."""
    argv = [str(LABCTL), "run", str(suite), "--backend", "process", "--evidence", str(evidence)]
    peaks: dict[str, int] = {}
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for part, kb in _parts(process.pid):
                peaks[part] = max(kb, peaks.get(part, 0))
            time.sleep(_EVERY_S)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv)
    return peaks


def _parts(driver: int) -> Iterator[tuple[str, int]]:
    """The processes of a run and the highest resident memory that each had so far, in kB."""
    with suppress(OSError):  # one that just ended
        yield DRIVER, _highest_kb(driver)
        children = [file.read_text().split() for file in Path(f"/proc/{driver}/task").glob("*/children")]
        for pid in (pid for pids in children for pid in pids):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            for mark, part in _PARTS.items():
                if mark in words:
                    yield part, _highest_kb(int(pid))


def _highest_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


if __name__ == "__main__":
    sys.exit(main())
