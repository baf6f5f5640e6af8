"""SIGINT and SIGTERM at random instants of runs on Compose, a third of them twice: nothing of the run is left."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from driver.interrupts import GRACE_S
from tests.compose.launching import RUN_S, FinishedRun, Labctl, LiveRun, labctl_of_checkout, told
from tests.compose.small_suites import small_suite
from tests.conftest import Rounds

pytestmark = pytest.mark.engine

_SEED = 20260910
_CASES = 6
_EXITS = {signal.SIGINT: 130, signal.SIGTERM: 143}
_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_SLACK_S = 5.0
"""Beyond the grace: the end of a process, and its being seen, on a busy machine."""
_AT_ONCE_S = 10.0
"""How long the end may take after a second signal: all is killed, and the engine watched for what comes late."""


@dataclass
class Told:
    """What the rounds came to."""

    exits: Counter[int] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"one signal": [], "a second one": []})
    """From the last signal to the end, of each round."""


def an_ordinary_run(labctl: Labctl, *flags: str) -> float:
    """How long one takes that nobody interrupts, in seconds."""
    began = time.monotonic()
    run = labctl.run(*flags)
    assert run.exit_code == 0, told(run)
    assert run.left == {}
    return time.monotonic() - began


def interrupted(
    live: LiveRun, number: signal.Signals, instants: Random, *, life_s: float, twice: bool
) -> tuple[FinishedRun, float]:
    """The run's end after a signal at a random instant of its life, or two; and how many seconds after the last one."""
    time.sleep(instants.uniform(0, life_s))
    began = time.monotonic()
    live.process.send_signal(number)
    if twice:
        time.sleep(instants.uniform(0, 1.5))
        began = time.monotonic()
        live.process.send_signal(instants.choice(list(_EXITS)))
    live.process.wait(RUN_S)
    seconds = time.monotonic() - began
    return live.wait(), seconds


def assert_one_message(run: FinishedRun, number: signal.Signals) -> None:
    """Where the signal was taken; a run that was over, or not yet labctl's, says nothing of it."""
    message = f"labctl: {_WORDS[number]}: ending what it started, within {GRACE_S} s; a second signal ends it at once"
    about = [line for line in run.stderr.splitlines() if "ending what it started" in line or _WORDS[number] in line]
    assert about == ([message] if run.exit_code == _EXITS[number] else []), told(run)
    assert "Traceback" not in run.stderr or run.exit_code in {-number, 1}, told(run)


def how_it_ended(labctl: Labctl, run: FinishedRun, number: signal.Signals) -> str:
    """One word for it; everything that holds for each of them is asserted."""
    assert run.left == {}, told(run)
    assert not list(run.folder.rglob(".labctl-part-*")), told(run)
    if run.is_sealed:  # it had come so far before the signal was taken
        assert run.exit_code in {0, _EXITS[number]}, told(run)
        assert labctl.call("verify", str(run.folder)).returncode == 0, told(run)
        return "sealed"
    # in the first tenth of a second nobody takes the signal but the system, and nothing was started
    assert run.exit_code in {_EXITS[number], *([] if run.folder.exists() else [-number, 1])}, told(run)
    if not run.folder.exists():
        return "before its first attempt"
    assert run.read("abort.json")["reason"] == _WORDS[number]
    assert "unsealed" in (run.folder / "README.md").read_text()
    assert f"next: labctl resume {run.folder}\n" in run.stderr
    json.loads((run.folder / "plan.json").read_text())
    for name in ("traces/attempts.jsonl", "journal.jsonl"):
        text = (run.folder / name).read_text()
        assert text == "" or text.endswith("\n"), f"{name} is cut"
        assert all(json.loads(line) for line in text.splitlines())
    return "kept, unsealed"


def test_runs_on_compose_that_are_interrupted_at_any_instant_leave_nothing_and_no_half_file(
    rounds: Rounds, images: Path, tmp_path: Path
) -> None:
    labctl = labctl_of_checkout(tmp_path)
    suite = small_suite(tmp_path / "suite", "waiting", cases=[{"id": f"case-{number}"} for number in range(_CASES)])
    flags = (str(suite), "--backend", "compose", "--concurrency", "1")
    life_s, came_to = an_ordinary_run(labctl, *flags), Told()
    for one in range(1, rounds(ci=4, soak=100) + 1):
        number, instants = list(_EXITS)[one % 2], Random(_SEED + one)  # noqa: S311 - no secret
        isolation, twice = ("shared", "container")[one % 4 // 2], one % 3 == 0
        with labctl.started(*flags, "--isolation", isolation) as live:
            run, seconds = interrupted(live, number, instants, life_s=life_s, twice=twice)
        ended = how_it_ended(labctl, run, number)
        way = f"{number.name}{', twice' if twice else ''}, {isolation}"
        print(f"round {one}: seed {_SEED + one}, {way}: {ended}, exit {run.exit_code}, {seconds:.1f} s", flush=True)
        assert_one_message(run, number)
        assert seconds <= (_AT_ONCE_S if twice else GRACE_S + _SLACK_S), told(run)
        came_to.seconds["a second one" if twice else "one signal"].append(seconds)
        came_to.exits[run.exit_code] += 1
        came_to.ended[ended] += 1
    print(f"life {life_s:.1f} s; exits {dict(came_to.exits)}; {dict(came_to.ended)}")
    for after, seconds_each in came_to.seconds.items():
        middle = sorted(seconds_each)[len(seconds_each) // 2]
        print(f"after {after} the end took {middle:.1f} s (median), at most {max(seconds_each):.1f} s")
