"""A warden serves one attempt after the other, as long as each ends by itself and leaves no process behind."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

import pytest

from tests.fakes.host_runner import Runner, until

MOST_TRIES = 20
WARDEN = ["/bin/sh", "-c", "echo $PPID"]


def _warden(runner: Runner, name: str, argv: list[str] = WARDEN, **changes: object) -> int:
    """The warden of an attempt, which prints it first."""
    runner.start(name, argv, **changes)
    runner.result(name)
    return int(runner.text(name).split()[0])


def _served_again(runner: Runner, wardens: set[int], argv: list[str] = WARDEN) -> str:
    """The name of an attempt that one of the wardens served: one is free only a moment after it told of an end."""
    names = (f"again {number}" for number in itertools.count())
    return next(name for name in itertools.islice(names, MOST_TRIES) if _warden(runner, name, argv) in wardens)


def test_attempts_one_after_another_have_the_same_few_wardens(runner: Runner) -> None:
    assert len({_warden(runner, f"n{number}") for number in range(MOST_TRIES)}) <= 3


def test_attempts_side_by_side_have_a_warden_each(runner: Runner) -> None:
    names = [f"n{number}" for number in range(3)]
    for name in names:
        runner.start(name, ["/bin/sh", "-c", "echo $PPID; cat; sleep 0.3"])
    for name in names:
        runner.result(name)
    wardens = {int(runner.text(name)) for name in names}
    assert len(wardens) == len(names)
    assert _served_again(runner, wardens)


@pytest.mark.parametrize(
    ("argv", "changes"),
    [
        (["/bin/sh", "-c", "echo $PPID; setsid sleep 60 &"], {}),
        (["/bin/sh", "-c", "echo $PPID; sleep 60"], {"seconds": 0.3, "graceSeconds": 0.1}),
        (["/bin/sh", "-c", "echo $PPID; yes"], {"outputBytes": 100}),
        (["/bin/sh", "-c", "echo $PPID; setsid sleep 60 >/dev/null 2>&1 &"], {"leave": True}),
    ],
)
def test_one_that_had_to_end_something_or_left_a_service_serves_no_other(
    runner: Runner, argv: list[str], changes: dict[str, object]
) -> None:
    done = _warden(runner, "first", argv, **changes)
    assert done not in {_warden(runner, f"n{number}") for number in range(5)}


def test_nothing_of_an_attempt_is_in_the_next_one(runner: Runner) -> None:
    look = ["/bin/sh", "-c", "echo $PPID $PATH; pwd; ls; cat; echo $LEFT"]
    env = {"PATH": "/usr/bin:/bin:/nowhere", "LEFT": "behind"}
    before = ["/bin/sh", "-c", "echo $PPID; touch file; exit 3"]
    wardens = {_warden(runner, f"n{number}", before, env=env, stdin="x" * 200_000) for number in range(3)}
    name = _served_again(runner, wardens, look)
    head, work, *rest = runner.text(name).splitlines()
    assert "/nowhere" not in head
    assert until(lambda: not os.path.exists(work))  # noqa: PTH110 - a text
    assert rest == [""]
    assert runner.result(name)["exitCode"] == 0


def test_a_free_warden_that_is_killed_or_stopped_is_not_missed(runner: Runner) -> None:
    for name, number in (("a", signal.SIGKILL), ("b", signal.SIGSTOP)):
        warden = _warden(runner, name)
        os.kill(warden, number)
        assert until(lambda warden=warden: not os.path.exists(f"/proc/{warden}"))  # type: ignore[misc]  # noqa: PTH110
        assert _warden(runner, f"after {name}") != warden


def test_an_end_that_comes_too_late_does_not_end_the_next_attempt(runner: Runner) -> None:
    for number in range(MOST_TRIES):
        runner.start(f"n{number}", WARDEN)
        runner.wait(f"n{number}", "out")
        runner.end(f"n{number}")
        runner.start(f"next {number}", ["/bin/sh", "-c", "sleep 0.05; exit 7"])
        after = runner.result(f"next {number}")
        assert (after["reason"], after["exitCode"]) == ("exit", 7)


def test_when_memory_runs_out_agents_go_before_the_host_and_its_wardens(runner: Runner) -> None:
    own = Path("/proc/self/oom_score_adj").read_text()
    runner.run(["/bin/sh", "-c", "sleep 0.3; cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj"])
    assert runner.text("a") == f"1000\n{own}"
    assert Path(f"/proc/{runner.process.pid}/oom_score_adj").read_text() == own
