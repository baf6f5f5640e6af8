"""A stderr that takes nothing changes no exit status and ends no run; a stdout that takes nothing is always told."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from driver.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
LABCTL = (sys.executable, "-Bc", "from driver.cli.main import main; main()")
FULL = Path("/dev/full")
Nowhere = Callable[[], AbstractContextManager[int]]


@contextmanager
def left_alone(ends: Callable[[], tuple[int, int]]) -> Iterator[int]:
    """The second end of a pipe whose reader went away, or of a terminal that is gone."""
    other, own = ends()
    os.close(other)
    yield own
    os.close(own)


@contextmanager
def full() -> Iterator[int]:
    with FULL.open("w") as stream:
        yield stream.fileno()


unread, hung_up = partial(left_alone, os.pipe), partial(left_alone, pty.openpty)
NOWHERE = pytest.mark.parametrize("nowhere", [full, unread, hung_up], ids=["full", "unread", "hung up"])


def status(*arguments: str, stdout: int = subprocess.DEVNULL, stderr: int, env: dict[str, str] | None = None) -> int:
    argv, seen = [*LABCTL, *arguments], {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock", **(env or {})}
    return subprocess.run(argv, cwd=ROOT, stdout=stdout, stderr=stderr, env=seen, timeout=120, check=False).returncode


@NOWHERE
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(("run", "--nope"), 2), (("verify", "/nonexistent"), 2), (("cases", "--help"), 0), (("clean",), 0)],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_an_exit_status_is_the_same_where_stderr_takes_nothing(
    nowhere: Nowhere, arguments: tuple[str, ...], expected: int
) -> None:
    with nowhere() as stderr:
        assert status(*arguments, stderr=stderr) == expected


@NOWHERE
def test_a_run_that_cannot_tell_its_warnings_is_sealed_all_the_same(nowhere: Nowhere, tmp_path: Path) -> None:
    warns = ("--capture", "payloads", "--backend", "process", "--evidence", str(tmp_path), "--run-id", "one")
    with nowhere() as stderr:
        assert (
            status(
                "run",
                "fixtures",
                "--case",
                "refund-is-recorded",
                *warns,
                stderr=stderr,
                env={"TERM": "xterm", "CI": ""},
            )
            == 0
        )
    assert (tmp_path / "one" / "COMPLETE").is_file()
    with full() as nothing, nowhere() as stderr:
        assert status("verify", str(tmp_path / "one"), stdout=nothing, stderr=stderr) == 5


def test_a_line_that_stderr_did_not_take_is_no_harm_to_the_next_one(tmp_path: Path) -> None:
    code = """
import os, sys
from driver.cli.discretion import put
put("one")
there = os.dup(2)
os.dup2(os.open("/dev/full", os.O_WRONLY), 2)
put("lost" * 9000)
os.dup2(there, 2)
put("two")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "one\ntwo\n")


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "-h"), ("cases", "lint", "--help")])
def test_a_page_that_stdout_does_not_take_is_told_as_any_result(arguments: tuple[str, ...]) -> None:
    with full() as stdout:
        argv = [*LABCTL, *arguments]
        done = subprocess.run(argv, cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5
    assert done.stderr.startswith("labctl: write-failed: stdout cannot be written: No space left on device\n")
    with unread() as stdout:
        assert status(*arguments, stdout=stdout, stderr=subprocess.DEVNULL) == 0


def test_the_program_can_be_called_as_a_module() -> None:
    argv = [sys.executable, "-m", "driver.cli.program", "--version"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"labctl, version {VERSION}\n")
