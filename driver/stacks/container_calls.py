"""Bounded calls of a container program, each a process of its own, for the containers of attempts."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.errors import ErrorCode, Found, LabError
from driver.stacks.children import child_env
from driver.stacks.exchange import exchange

CLIENT_ENV = ("HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
"""What the client reads to find its engine."""
CALL_S = 120.0
"""A container may wait for many others on a slow machine."""
_MOST_OUTPUT = 64 * 1024
_ADVICE = re.compile(r"(Run|See) '[^']* --help'.*", re.IGNORECASE)


@dataclass(frozen=True)
class Called:
    """How a call ended; `exit_code` None: it took too long, or was given up."""

    exit_code: int | None
    output: str
    """The end of what it printed, on both streams."""

    @property
    def last_line(self) -> str:
        """What it said at last, but for the advice to read about its flags, which follows an error."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        lines = [line for line in lines if not _ADVICE.fullmatch(line)] or lines
        return lines[-1] if lines else "it said nothing"


def client_env() -> dict[str, str]:
    """The environment of a client of the engine: nothing of the user's but where the engine is."""
    return child_env(**{name: os.environ[name] for name in CLIENT_ENV if name in os.environ})


def call(
    argv: Sequence[str], *, seconds: float = CALL_S, given: bytes = b"", give_up: threading.Event | None = None
) -> Called:
    """Run it to its end, or end it after that time or once `give_up` is set; `given` is its standard input.

    A session of its own: a Ctrl-C of the terminal is the driver's to act on, and must not cut a start in half.
    """
    until = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            argv,
            env=client_env(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return Called(127, f"{argv[0]}: {error.strerror}")
    with process:
        try:
            output, is_whole = exchange(
                process, given, until=until, most=_MOST_OUTPUT, give_up=give_up or threading.Event()
            )
            exit_code = process.wait(max(0.0, until - time.monotonic())) if is_whole else None
        except subprocess.TimeoutExpired:
            exit_code = None
        finally:
            process.kill()  # does nothing to one that has ended
    return Called(exit_code, output.decode(errors="replace"))


def must(argv: Sequence[str], *, what: str, seconds: float = CALL_S) -> str:
    """What it printed; raises LabError ENGINE_FAILED when it fails or takes too long."""
    called = call(argv, seconds=seconds)
    if called.exit_code != 0:
        how = f"took longer than {seconds:g} s" if called.exit_code is None else f"ended with {called.exit_code}"
        raise LabError(ErrorCode.ENGINE_FAILED, f"{what}: {how}", cause=called.last_line, next_step="labctl doctor")
    return called.output.strip()


def refuse_other_engine(runtime: str) -> None:
    """Raise LabError RUNTIME_UNUSABLE unless the program speaks to the engine that has the stack's networks."""
    if runtime == "docker":
        return
    ask = ("info", "--format", "{{.ID}}")
    own, other = call(["docker", *ask]), call([runtime, *ask])
    if other.exit_code == 0 and other.output.strip() == own.output.strip():
        return
    raise LabError(
        ErrorCode.RUNTIME_UNUSABLE,
        f"`{runtime}` cannot start a container beside the stack",
        found=[Found(f"`{runtime} info` tells of another engine, or of none", place="--container-runtime")],
        expected="a program with docker's command line, on the engine of the stack, whose networks it has to join",
        cause=other.last_line if other.exit_code != 0 else None,
        next_step="leave out --container-runtime",
    )
