"""agent_host with real processes: what it reports, what it ends, and that nothing outlives it."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HOST = Path(__file__).parents[2] / "agent_host" / "agent_host.py"
PATIENCE_S = 20.0
"""How long a test waits for what comes at once on an idle machine."""

Message = dict[str, Any]


def python(code: str) -> list[str]:
    """The argv of an agent."""
    return [sys.executable, "-ISc", code]


def until(holds: Callable[[], bool]) -> bool:
    """Wait for a condition; false when it never holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not (is_held := holds()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return is_held


class Runner:
    """The runner's end of one agent_host; `mark` is in the environment of every agent, so that none can hide."""

    def __init__(self, work: Path, *, port: int | None = None) -> None:
        self.work, self.mark = work, str(uuid.uuid4())
        way = ["--stdio"] if port is None else ["--listen", str(port), "--host", "127.0.0.1"]
        signals = ["/bin/sh", "-c", 'trap "" INT USR1; exec "$@"', "sh"]  # as under nohup: no agent may inherit that
        self.process = subprocess.Popen(
            [*signals, sys.executable, "-IS", str(HOST), *way, "--work", str(work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOST_SECRET": "of the host alone"},
        )
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.seen: list[Message] = []
        self.may_read = threading.Event()
        self.may_read.set()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.may_read.wait()
            self.lines.put(line)

    def write(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def start(self, name: str, argv: list[str], **changes: object) -> None:
        """Order an attempt that has plenty of everything but for the changes."""
        order: Message = {"op": "start", "id": name, "argv": argv, "env": {}, "stdin": "", "seconds": PATIENCE_S}
        order |= {"outputBytes": 1 << 20, "graceSeconds": 0.1} | changes
        order["env"] = {"LAB_TEST_MARK": self.mark, "LAB_TEST_ATTEMPT": name, **order["env"]}
        self.write(json.dumps(order).encode() + b"\n")

    def end(self, name: str) -> None:
        self.write(json.dumps({"op": "end", "id": name}).encode() + b"\n")

    def wait(self, name: str, *ops: str) -> Message:
        """The first message with one of these ops about this attempt."""
        for known in self.seen:
            if known.get("id") == name and known["op"] in ops:
                return known
        while True:
            message: Message = json.loads(self.lines.get(timeout=PATIENCE_S))
            self.seen.append(message)
            if message.get("id") == name and message["op"] in ops:
                return message

    def result(self, name: str) -> Message:
        return self.wait(name, "ended", "failed")

    def run(self, argv: list[str], **changes: object) -> Message:
        self.start("a", argv, **changes)
        return self.result("a")

    def text(self, name: str, stream: str = "stdout") -> str:
        """All that this attempt printed so far."""
        pieces = [m for m in self.seen if m["op"] == "out" and m["id"] == name and m["stream"] == stream]
        return "".join(piece["text"] for piece in pieces)

    def agents(self, name: str | None = None) -> list[int]:
        """Every process of this runner's attempts, or of one of them, that is no zombie."""
        wanted = {f"LAB_TEST_MARK={self.mark}".encode()} | ({f"LAB_TEST_ATTEMPT={name}".encode()} if name else set())
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                if wanted <= set(environ.read_bytes().split(b"\0")):
                    found.append(int(environ.parent.name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def leave(self) -> int:
        """Close the connection; returns the exit code of the host."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.may_read.set()
        self.process.stdin.close()
        code = self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        self.process.stdout.close()
        return code


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """A runner with its host; afterwards neither a process nor a directory of it is left."""
    runner = Runner(tmp_path / "work")
    try:
        yield runner
    finally:
        runner.leave()
        left, directories = runner.agents(), list(runner.work.iterdir())
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert left == []
    assert directories == []


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


def test_twenty_attempts_at_once_do_not_mix(runner: Runner) -> None:
    names = [f"n{number}" for number in range(20)]
    for name in names:
        runner.start(name, ["/bin/sh", "-c", f"sleep 0.2; echo {name}; exit {name[1:]}"])
    ends = [runner.result(name) for name in names]
    assert [end["exitCode"] for end in ends] == list(range(20))
    assert [runner.text(name) for name in names] == [f"{name}\n" for name in names]


@pytest.mark.parametrize("number", ["KILL", "STOP", "TERM"])
def test_an_agent_that_turns_on_its_warden_is_ended_and_the_others_go_on(runner: Runner, number: str) -> None:
    runner.start("other", ["/bin/sh", "-c", "sleep 0.6; echo still here"])
    runner.wait("other", "started")
    lost = runner.run(["/bin/sh", "-c", f"setsid sleep 60 & echo before; sleep 0.2; kill -{number} $PPID; sleep 60"])
    assert (lost["op"], lost["reason"], lost["exitCode"]) == ("ended", "supervisor-lost", None)
    assert runner.text("a") == "before\n"
    assert runner.agents("a") == []
    other = runner.result("other")
    assert (other["reason"], other["strays"]) == ("exit", 0)
    assert runner.text("other") == "still here\n"


def test_an_order_to_end_is_obeyed_and_told_as_asked(runner: Runner) -> None:
    runner.start("a", ["/bin/sh", "-c", "trap '' TERM; echo up; setsid sleep 60; sleep 60"])
    runner.wait("a", "out")
    runner.end("a")
    ended = runner.result("a")
    assert (ended["reason"], ended["signal"]) == ("asked", signal.SIGKILL)
    runner.end("a")
    runner.end("never heard of")
    assert runner.run(["/bin/true"])["op"] == "ended"


def test_characters_split_between_writes_and_bad_bytes_become_text(runner: Runner) -> None:
    code = """
import os, time
for byte in "é€😀".encode():
    os.write(1, bytes([byte]))
    time.sleep(0.002)
os.write(1, b"\\xff|\\xe2\\x82")
"""
    runner.run(python(code))
    assert runner.text("a") == "é€😀\ufffd|\ufffd"


def test_no_output_is_taken_for_a_message(runner: Runner) -> None:
    forged = '{"op":"ended","id":"a","exitCode":0}\n\u2028\x00\x85"\\\r\n{"op":"failed"}'
    ended = runner.run(["/bin/cat"], stdin=forged)
    assert runner.text("a") == forged
    assert [message["op"] for message in runner.seen if message["op"] != "out"] == ["hello", "started", "ended"]
    assert ended["reason"] == "exit"


def test_an_agent_gets_its_own_environment_directory_and_signals_and_three_descriptors(runner: Runner) -> None:
    code = """
import json, os, stat
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "mode": stat.S_IMODE(os.stat(".").st_mode),
    "files": os.listdir("."), "fds": sorted(os.listdir("/proc/self/fd"))[:-1], "sid": os.getsid(0) == os.getpid(),
    "blocked": int(status["SigBlk"], 16), "ignored": int(status["SigIgn"], 16) & 0x7fffffff}))
"""
    runner.run(python(code), env={"KEY": "a=b, c", "LC_CTYPE": "C.UTF-8"})
    seen = json.loads(runner.text("a"))
    home = seen["cwd"]
    assert seen["env"] == {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "TMPDIR": home,
        "KEY": "a=b, c",
        "LC_CTYPE": "C.UTF-8",
        "LAB_TEST_MARK": runner.mark,
        "LAB_TEST_ATTEMPT": "a",
    }
    assert Path(home).parent == runner.work
    assert (seen["mode"], seen["files"], seen["fds"], seen["sid"]) == (0o700, [], ["0", "1", "2"], True)
    assert (seen["blocked"], seen["ignored"]) == (0, 1 << 12 | 1 << 24)  # SIGPIPE, SIGXFSZ: Python's own doing there


def test_a_work_directory_goes_whatever_is_in_it(runner: Runner) -> None:
    code = """
import os
os.makedirs("locked/inner")
open("locked/inner/file", "w").close()
os.symlink("/etc", "locked/link")
os.chmod("locked/inner", 0)
os.chmod("locked", 0o500)
for _ in range(300):
    os.mkdir("a long name for a directory")
    os.chdir("a long name for a directory")
os.chmod(os.environ["HOME"], 0)
"""
    assert runner.run(python(code))["exitCode"] == 0
    assert list(runner.work.iterdir()) == []
    assert Path("/etc/hostname").exists()


def test_a_runner_that_reads_late_loses_no_line(runner: Runner) -> None:
    runner.may_read.clear()
    names = [f"n{number}" for number in range(4)]
    for name in names:
        runner.start(name, python("print('x' * 999_999)"))
    time.sleep(0.5)
    runner.start("small", ["/bin/echo", "after"])
    runner.may_read.set()
    for name in names:
        assert runner.result(name)["outputBytes"] == 1_000_000
        assert len(runner.text(name)) == 1_000_000
    assert runner.result("small")["exitCode"] == 0


def test_an_agent_waits_for_a_runner_that_does_not_read(runner: Runner) -> None:
    runner.may_read.clear()
    runner.start("a", ["/bin/cat", "/dev/zero"], outputBytes=1 << 30)  # six bytes of JSON for each
    time.sleep(0.8)
    status = dict(line.split(":", 1) for line in Path(f"/proc/{runner.process.pid}/status").read_text().splitlines())
    runner.end("a")
    runner.may_read.set()
    ended = runner.result("a")
    assert ended["reason"] == "asked"
    assert int(status["VmHWM"].split()[0]) < 32 * 1024
    assert ended["outputBytes"] < 8 << 20


def test_orders_may_come_in_pieces_and_together(runner: Runner) -> None:
    order: Message = {"op": "start", "argv": ["/bin/echo", "x"], "env": {}, "stdin": "", "seconds": None}
    order |= {"outputBytes": 9, "graceSeconds": 0}
    content = b"".join(json.dumps(order | {"id": name}).encode() + b"\n" for name in "abc")
    for piece in (content[:10], content[10:-20], content[-20:]):
        runner.write(piece)
        time.sleep(0.02)
    assert [runner.result(name)["exitCode"] for name in "abc"] == [0, 0, 0]


def test_what_is_no_message_ends_the_host_and_its_agents(runner: Runner) -> None:
    runner.start("a", ["/bin/sleep", "60"])
    runner.wait("a", "started")
    runner.write(b'{"op":"sing"}\n')
    assert runner.process.wait(PATIENCE_S) == 1
    assert runner.agents() == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9), (None, 0)])
def test_nothing_outlives_the_host(tmp_path: Path, number: signal.Signals | None, code: int) -> None:
    runner = Runner(tmp_path / "work")
    for name in "abc":
        runner.start(name, ["/bin/sh", "-c", "trap '' TERM; setsid sleep 60 & setsid sleep 60"])
    for name in "abc":
        runner.wait(name, "started")
    assert until(lambda: len(runner.agents()) == 9)
    if number is not None:
        runner.process.send_signal(number)
        assert runner.process.wait(PATIENCE_S) == code
    assert runner.leave() == code
    if number is signal.SIGKILL:  # its wardens do it, once they know
        assert until(lambda: not runner.agents() and not list(runner.work.iterdir()))
    assert runner.agents() == []
    assert list(runner.work.iterdir()) == []


def test_the_first_connection_is_served_and_the_second_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    runner = Runner(tmp_path / "work", port=port)

    listening = f":{port:04X} 00000000:0000 0A "  # read from the kernel: a probe would be the first connection
    assert until(lambda: listening in Path("/proc/net/tcp").read_text())
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as lines:
        assert json.loads(lines.readline()) == {"op": "hello", "version": 1}
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        order: Message = {"op": "start", "id": "a", "argv": ["/bin/sleep", "60"], "env": {}, "stdin": "x"}
        order |= {"seconds": None, "outputBytes": 1, "graceSeconds": 1.0, "env": {"LAB_TEST_MARK": runner.mark}}
        connection.sendall(json.dumps(order).encode() + b"\n")
        assert json.loads(lines.readline())["op"] == "started"
        assert len(runner.agents()) == 1
        connection.shutdown(socket.SHUT_WR)
        assert lines.read() == b""
    assert runner.process.wait(PATIENCE_S) == 0
    assert runner.agents() == []
    runner.leave()
