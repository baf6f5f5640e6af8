"""Signals become one exception, a second one ends everything at once, and what was promised is paid either way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.compose.engine_calls import processes_with

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0
STARTS = """\
import os, signal, subprocess, sys, threading, time
from pathlib import Path
from driver import interrupts
from driver.at_once import Duty, end_now, promise
from driver.interrupts import Interrupted, listen, signals_wait

mark, folder = sys.argv[1], Path(sys.argv[2])

def ready():
    print("ready", flush=True)

def leave_children():
    grandchild = "import os, time; os.setsid(); time.sleep(600)"  # it loses its parent, and has left its session
    starts = f"subprocess.Popen([sys.executable, '-c', {grandchild!r}, {mark!r}])"
    child = f"import subprocess, sys, time; {starts}; time.sleep(600)"
    for code in (child, "import time; time.sleep(600)"):
        null = subprocess.DEVNULL
        subprocess.Popen([sys.executable, "-c", code, mark], stdout=null, stderr=null, start_new_session=True)
    threading.Thread(target=time.sleep, args=(600,)).start()  # a thread that nobody can end

listen()
"""


@contextmanager
def started(code: str, mark: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    assert folder.name in mark  # what has the mark is ended, so nothing else on the machine may have it
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS + code, mark, str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.stderr and process.stderr.read()
            yield process
        finally:
            process.kill()
            for pid in processes_with(mark):
                os.kill(pid, signal.SIGKILL)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    assert process.stderr is not None
    return process.wait(PATIENCE_S), process.stderr.read()


@pytest.fixture
def mark(tmp_path: Path) -> str:
    return f"interrupts-{os.getpid()}-{tmp_path.name}"


IS_STUCK = """
promise(lambda reason: Duty(
    remove=(str(folder / "gone"),), write={str(folder / "said"): reason}, told=("kept: all of it",)
))
leave_children()
try:
    ready()
    time.sleep(600)
finally:
    print("teardown", flush=True)
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
"""


@pytest.mark.parametrize(
    ("number", "exit_code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_second_signal_ends_at_once_what_is_stuck_in_its_teardown_and_leaves_nothing(
    tmp_path: Path, mark: str, number: signal.Signals, exit_code: int, word: str
) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "file").touch()
    with started(IS_STUCK, mark, tmp_path) as process:
        process.send_signal(number)
        assert process.stdout is not None
        assert process.stdout.readline() == "teardown\n"
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        status, said = ended(process)
        assert processes_with(mark) == {}
    assert status == exit_code
    assert said == (
        f"labctl: {word}: ending what it started, within 30 s; a second signal ends it at once\nkept: all of it\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["said"]
    assert (tmp_path / "said").read_text() == word


def test_when_the_grace_is_over_everything_is_ended_without_a_second_signal(tmp_path: Path, mark: str) -> None:
    with started("interrupts.GRACE_S = 1\n" + IS_STUCK, mark, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        status, said = ended(process)
        assert processes_with(mark) == {}
    assert status == 130
    assert "within 1 s" in said
    assert "kept: all of it" in said


def test_a_signal_waits_for_steps_that_make_sense_together_only(tmp_path: Path, mark: str) -> None:
    code = """
try:
    with signals_wait():
        ready()
        until = time.monotonic() + 1
        while time.monotonic() < until:
            time.sleep(0.1)
        (folder / "both").touch()
    (folder / "after").touch()
except Interrupted as error:
    sys.exit(int(error.exit_code))
"""
    with started(code, mark, tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        assert ended(process)[0] == 143
    assert [path.name for path in tmp_path.iterdir()] == ["both"]


def test_a_hang_up_that_nohup_shut_out_ends_nothing(tmp_path: Path, mark: str) -> None:
    code = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nlisten()\nready()\ntime.sleep(1)\n"
    with started(code, mark, tmp_path) as process:
        process.send_signal(signal.SIGHUP)
        assert ended(process) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_every_command_ends_with_the_signals_exit_status_and_one_line(
    number: signal.Signals, tmp_path: Path, mark: str
) -> None:
    code = """
from driver.cli import main

def waits(**_given):
    ready()
    time.sleep(600)

main.cli.main = waits
main.main()
"""
    with started(code, mark, tmp_path) as process:
        process.send_signal(number)
        status, said = ended(process)
    assert status == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert said.count("\n") == 1


def test_a_promise_that_cannot_be_paid_does_not_keep_the_others_from_it(tmp_path: Path, mark: str) -> None:
    code = """
promise(lambda reason: 1 / 0)
promise(lambda reason: Duty(write={str(folder / "no" / "folder"): "x", str(folder / "said"): reason}))
ready()
end_now(130, reason="interrupted")
"""
    with started(code, mark, tmp_path) as process:
        status, said = ended(process)
    assert status == 130
    assert "ZeroDivisionError while ending" in said
    assert f"{tmp_path / 'no' / 'folder'} could not be written: No such file or directory" in said
    assert (tmp_path / "said").read_text() == "interrupted"


def test_an_engine_that_does_not_answer_is_told_with_the_next_step(tmp_path: Path, mark: str) -> None:
    code = """
os.environ["DOCKER_HOST"] = f"unix://{folder}/no.sock"
promise(lambda reason: Duty(labels=("labctl.owner=nobody",)))
ready()
end_now(143, reason="terminated")
"""
    began = time.monotonic()
    with started(code, mark, tmp_path) as process:
        status, said = ended(process)
    assert status == 143
    assert "labctl: warning: the engine may still have things of this run: " in said
    assert said.rstrip().endswith("next: labctl clean")
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_command_is_over_changes_nothing_of_what_it_came_to(number: signal.Signals) -> None:
    at_exit = f"atexit.register(os.kill, os.getpid(), {number.value})"
    code = f"import atexit, os; {at_exit}; from driver.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "jobs"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "clean" in done.stdout


@pytest.mark.parametrize(
    "drops",
    [
        "one = Thing(); gone = weakref.ref(one, lambda _: raises()); del one",
        """
try:
    raises()
except BaseException:
    pass
""",
        """
class Finalized:
    def __del__(self):
        raises()
Finalized()
""",
    ],
    ids=["a callback", "a library that gives up", "a finalizer"],
)
def test_an_interrupt_that_is_dropped_on_its_way_comes_again_and_nobody_sees_that(
    drops: str, tmp_path: Path, mark: str
) -> None:
    code = f"""
import weakref
class Thing: pass
def raises():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(1)
try:
    ready()
    exec({drops!r})
    time.sleep(20)
    print("never", flush=True)
except Interrupted as error:
    print("came", flush=True)
    end_now(error.exit_code, reason=error.word)
"""
    began = time.monotonic()
    with started(code, mark, tmp_path) as process:
        status, said = ended(process)
        assert process.stdout is not None
        assert process.stdout.read() == "came\n"
    assert status == 143
    assert said == "labctl: terminated: ending what it started, within 30 s; a second signal ends it at once\n"
    assert time.monotonic() - began < PATIENCE_S / 2


HELD = """
def held():
    lock()
    signal()
    try:
        for _ in range(3): wait()
    finally:
        release()
"""


def test_an_interrupt_in_the_import_system_waits_until_that_has_let_go_of_its_locks(tmp_path: Path, mark: str) -> None:
    (tmp_path / "later.py").write_text("")
    code = f"""
import _imp
from functools import partial
sys.path.insert(0, {str(tmp_path)!r})
inside = {{"lock": _imp.acquire_lock, "release": _imp.release_lock, "wait": partial(time.sleep, 0.1)}}
inside["signal"] = partial(signal.pthread_kill, threading.main_thread().ident, signal.SIGINT)
exec(compile({HELD!r}, "<frozen importlib._bootstrap>", "exec"), inside)
class Later(threading.Thread):
    def run(self):
        import later
try:
    ready()
    inside["held"]()
    time.sleep(20)
except Interrupted as error:
    other = Later(daemon=True)
    other.start()
    other.join(5)
    print("held" if other.is_alive() else "free", flush=True)
    end_now(error.exit_code, reason=error.word)
"""
    with started(code, mark, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "free\n"
        assert process.wait(PATIENCE_S) == 130


def test_an_interrupt_that_is_on_its_way_is_raised_once(tmp_path: Path, mark: str) -> None:
    code = """
raised = 0
try:
    ready()
    os.kill(os.getpid(), signal.SIGTERM)
except Interrupted:
    try:
        time.sleep(1)
    except Interrupted:
        raised += 1
print(raised, flush=True)
end_now(143, reason="terminated")
"""
    with started(code, mark, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        assert process.wait(PATIENCE_S) == 143


def test_an_interrupt_while_the_program_is_loaded_ends_it_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("print('loading', flush=True); import time; time.sleep(20)")
    as_in_a_terminal = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell's & shuts it out
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from driver.cli.program import main; main()"
    code = f"{as_in_a_terminal}; {code}"
    argv = [sys.executable, "-c", code, "jobs"]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, *said) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM])
def test_a_signal_while_the_last_things_are_ended_changes_nothing(
    number: signal.Signals, tmp_path: Path, mark: str
) -> None:
    code = f"""
promise(lambda reason: Duty(write={{str(folder / "said"): reason}}))
signal.pthread_sigmask(signal.SIG_BLOCK, [{number.value}])  # so that it comes when the next program has begun
os.kill(os.getpid(), {number.value})
end = os.execv
def execv(*argv):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [{number.value}])
    end(*argv)
os.execv = execv
ready()
end_now(130, reason="interrupted")
"""
    with started(code, mark, tmp_path) as process:
        assert ended(process) == (130, "")
    assert (tmp_path / "said").read_text() == "interrupted"


def test_a_second_signal_tells_what_the_first_one_had_not_told_yet(tmp_path: Path, mark: str) -> None:
    code = """
promise(lambda reason: Duty(told=("kept: all of it",)))
try:
    ready()
    time.sleep(20)
except Interrupted as error:
    error.kept, error.next_step = "all of it", "labctl resume it"
    os.kill(os.getpid(), signal.SIGTERM)
"""
    with started(code, mark, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        status, said = ended(process)
    assert status == 130
    assert said.splitlines()[1:] == ["kept: all of it", "next: labctl resume it"]
