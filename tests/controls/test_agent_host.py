"""agent_host with one real process at a time: what it reports, its limits, and what it ends."""

from __future__ import annotations

import signal

import pytest

from tests.fakes.host_runner import PATIENCE_S, Runner, python


def test_a_clean_exit_is_told_with_its_output_and_all_in_order(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "cat; echo to stderr >&2"], stdin='{"caseId": "c"}')
    assert [message["op"] for message in runner.seen] == ["hello", "started", "out", "out", "ended"]
    assert runner.seen[0] == {"op": "hello", "version": 1}
    assert (runner.text("a"), runner.text("a", "stderr")) == ('{"caseId": "c"}', "to stderr\n")
    assert 0 <= ended.pop("durationMs") < PATIENCE_S * 1000
    assert ended == {
        "op": "ended",
        "id": "a",
        "exitCode": 0,
        "signal": None,
        "reason": "exit",
        "strays": 0,
        "outputBytes": 25,
    }


def test_a_crash_keeps_its_exit_code_and_what_was_printed_before(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "echo the right answer; exit 3"])
    assert (ended["exitCode"], ended["signal"], ended["reason"]) == (3, None, "exit")
    assert runner.text("a") == "the right answer\n"


def test_a_death_by_signal_is_told_as_that_signal(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "kill -SEGV $$"])
    assert (ended["exitCode"], ended["signal"], ended["reason"]) == (None, signal.SIGSEGV, "exit")


def test_a_silent_agent_ends_without_any_output_message(runner: Runner) -> None:
    ended = runner.run(["/bin/true"])
    assert (ended["exitCode"], ended["outputBytes"]) == (0, 0)
    assert [message["op"] for message in runner.seen] == ["hello", "started", "ended"]


def test_an_agent_that_ignores_sigterm_is_ended_at_its_limit_plus_the_grace(runner: Runner) -> None:
    code = "import signal, time\nsignal.signal(15, lambda *_: print('no', flush=True))\nwhile True: time.sleep(9)"
    ended = runner.run(python(code), seconds=0.6, graceSeconds=0.3)
    assert (ended["exitCode"], ended["signal"], ended["reason"]) == (None, signal.SIGKILL, "seconds")
    assert ended["strays"] == 0
    assert 900 <= ended["durationMs"] < 5000
    assert runner.text("a") == "no\n"


def test_a_polite_agent_may_still_say_something_within_the_grace(runner: Runner) -> None:
    code = "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit('I stop'))\ntime.sleep(60)"
    ended = runner.run(python(code), seconds=0.6, graceSeconds=PATIENCE_S)
    assert (ended["exitCode"], ended["reason"]) == (1, "seconds")
    assert runner.text("a", "stderr") == "I stop\n"


def test_a_child_in_its_own_session_that_holds_the_pipe_is_ended_and_counted(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "setsid sleep 60 & echo done"])
    assert (ended["exitCode"], ended["reason"], ended["strays"]) == (0, "exit", 1)
    assert runner.text("a") == "done\n"
    assert runner.agents() == []


def test_a_daemon_that_forked_twice_is_ended_and_counted(runner: Runner) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 9)
        time.sleep(60)
    os._exit(0)
os.wait()
"""
    ended = runner.run(python(code))
    assert (ended["exitCode"], ended["reason"], ended["strays"]) == (0, "exit", 1)
    assert runner.agents() == []


@pytest.mark.parametrize("shape", ["group", "sessions", "chain"])
def test_a_fork_bomb_is_beaten(runner: Runner, shape: str) -> None:
    # each fork takes a byte from a pipe, which bounds the bomb when the host cannot
    code = f"""
import os, signal, time
signal.signal(15, signal.SIG_IGN)
tokens, filled = os.pipe()
os.write(filled, bytes(150))
os.close(filled)
while os.read(tokens, 1):
    if os.fork() == 0:
        {"pass" if shape == "group" else "os.setsid()"}
    elif {shape == "chain"}:
        os._exit(0)
time.sleep(60)
"""
    ended = runner.run(python(code), seconds=0.4, graceSeconds=0.0)
    assert ended["reason"] in ("seconds", "exit")  # a chain leaves its first process, and so its agent, at once
    assert ended["strays"] >= 1
    assert runner.agents() == []


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["no-such-program"], "No such file or directory: 'no-such-program'"),
        (["/proc/self/status"], "Permission denied: '/proc/self/status'"),
        (["./in-the-fresh-directory"], "No such file or directory: './in-the-fresh-directory'"),
        ([], "IndexError"),
    ],
)
def test_an_agent_that_cannot_be_started_is_failed_with_its_name_and_the_cause(
    runner: Runner, argv: list[str], message: str
) -> None:
    failed = runner.run(argv, env={"PATH": "/usr/bin:/bin"})
    assert failed["op"] == "failed"
    assert message in failed["message"]
    assert [message["op"] for message in runner.seen] == ["hello", "failed"]


def test_output_ends_at_its_limit_to_the_byte(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "yes"], outputBytes=100_001)
    assert (ended["reason"], ended["outputBytes"]) == ("output", 100_001)
    assert len(runner.text("a")) == 100_001


def test_output_that_is_left_in_the_pipe_at_the_exit_counts_too(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "echo 123456789"], outputBytes=5)
    assert (ended["reason"], ended["outputBytes"]) == ("output", 5)


def test_an_agent_that_never_reads_its_stdin_does_not_hold_anything_up(runner: Runner) -> None:
    runner.start("full", ["/bin/sleep", "60"], stdin="x" * 10_000_000, seconds=1)
    runner.start("other", ["/bin/true"])
    assert runner.result("other")["exitCode"] == 0
    assert runner.result("full")["reason"] == "seconds"


def test_a_large_stdin_arrives_whole(runner: Runner) -> None:
    ended = runner.run(["/bin/sh", "-c", "sleep 0.1; wc -c"], stdin="é" * 5_000_000)
    assert (ended["exitCode"], runner.text("a").strip()) == (0, "10000000")
