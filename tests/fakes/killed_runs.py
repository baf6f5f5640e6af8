"""Kills a run with its whole process group at an instant of its life, goes on with it, and looks at what came of it."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from driver.verify import verify_run
from tests.compose.launching import MARK, RUN_S, Labctl, LiveRun
from tests.fakes.cut_back import told

_POLL_S = 0.002


@dataclass(frozen=True)
class Killed:
    """A run that was killed, as it was found."""

    run: LiveRun
    lines: bytes
    """Whole lines of traces/attempts.jsonl."""
    is_begun: bool
    """begun.json was there."""

    @property
    def attempts(self) -> int:
        return self.lines.count(b"\n")


@dataclass(frozen=True)
class Lived:
    """How long a run took when nobody killed it, and what it said but for times."""

    to_plan_s: float
    after_plan_s: float
    told: dict[str, Any]


def lived(labctl: Labctl, *flags: str) -> Lived:
    """Let one run end by itself."""
    began = time.monotonic()
    with labctl.started(*flags) as live:
        planned = _await_plan(live, until=began + RUN_S)
        assert live.wait().exit_code in {0, 1}
        after = time.monotonic() - planned
        return Lived(to_plan_s=planned - began, after_plan_s=after, told=told(live.folder))


def kill_at(live: LiveRun, random: Random, life: Lived) -> Killed | None:
    """Kill it at a random instant of what follows its plan; None: it had sealed itself by then."""
    _await_plan(live, until=time.monotonic() + RUN_S)
    time.sleep(random.uniform(0, life.after_plan_s))
    return _kill(live)


def kill_after(live: LiveRun, *, attempts: int) -> Killed | None:
    """Kill it as soon as so many attempts are finished; None: it had sealed itself by then."""
    until = _await_plan(live, until=time.monotonic() + RUN_S) + RUN_S
    while len(live.finished_cases()) < attempts:
        assert time.monotonic() < until, "waited too long"
        time.sleep(_POLL_S)
    return _kill(live)


def _kill(live: LiveRun) -> Killed | None:
    os.killpg(live.process.pid, signal.SIGKILL)
    live.process.communicate(timeout=RUN_S)
    if (live.folder / "COMPLETE").exists():
        verify_run(live.folder)  # sealed means whole, whenever the kill came
        return None
    text = (live.folder / "traces" / "attempts.jsonl").read_bytes()
    lines = text[: text.rfind(b"\n") + 1]
    return Killed(live, lines=lines, is_begun=(live.folder / "begun.json").exists())


def resume(labctl: Labctl, killed: Killed, *flags: str) -> str:
    """Go on with it; what it said on stderr. Everything that holds for every resumed run is asserted."""
    run = killed.run
    at_home = replace(labctl, environ={**labctl.environ, "TMPDIR": str(run.scratch)})
    done = at_home.call("resume", str(run.folder), "-e", f"{MARK}={run.id}", *flags)
    assert done.returncode == 1, f"{run.id}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.stdout.splitlines()[-1] == str(run.folder)
    assert f"{killed.attempts} finished attempts are kept" in done.stderr
    assert_whole(run.folder, killed)
    return done.stderr


def assert_whole(folder: Path, killed: Killed) -> None:
    """Sealed, verified, nothing lost, nothing twice, totals that the rows have, and nothing else in the folder."""
    verified = verify_run(folder)
    text = (folder / "traces" / "attempts.jsonl").read_bytes()
    assert text.startswith(killed.lines), "a finished attempt was lost or changed"
    made = [json.loads(line) for line in text.splitlines()]
    keys = [(one["caseId"], one["attempt"]) for one in made]
    assert len(set(keys)) == len(keys) == verified.cases, "an attempt twice, or a case without one"
    results = json.loads((folder / "results.json").read_text())
    rows = [case["outcome"] for case in results["cases"]]
    summary = results["summary"]
    assert [summary["passed"], summary["failed"], summary["unknown"]] == [
        rows.count(one) for one in ("pass", "fail", "unknown")
    ]
    assert summary["planned"] == len(rows) == verified.cases
    assert rows.count("unknown") == 0
    resumed = json.loads((folder / "environment.json").read_text())["resumed"]
    assert (resumed["keptAttempts"], resumed["ranAttempts"]) == (killed.attempts, len(made) - killed.attempts)
    assert sorted(path.name for path in folder.iterdir()) == NAMES


NAMES = sorted(
    [
        *("COMPLETE", "README.md", "environment.json", "journal.jsonl", "junit.xml", "plan.json", "results.json"),
        *("run.log", "suite", "traces"),
    ]
)


def left_of(killed: Killed) -> dict[str, Any]:
    """What of it is still there; its scratch folders count only where it had come to say whose they are."""
    left = killed.run.left()
    if not killed.is_begun:
        left.pop("files", None)
    return left


def _await_plan(live: LiveRun, *, until: float) -> float:
    while not (live.folder / "plan.json").exists():
        assert time.monotonic() < until, "waited too long"
        assert live.process.poll() is None, live.process.communicate()
        time.sleep(_POLL_S)
    return time.monotonic()
