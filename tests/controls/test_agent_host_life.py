"""agent_host over time: many agents at once, its messages, its own end, and that nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.fakes.host_runner import PATIENCE_S, Message, Runner, python, until


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
