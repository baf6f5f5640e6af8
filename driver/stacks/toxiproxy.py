"""toxiproxy as a program of this machine, for the process backend: which one it is, and a child of the driver."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from contracts.canonical import digest_of_file
from contracts.errors import ErrorCode, Found, LabError
from contracts.order import FaultProxyOrder
from contracts.plan import Program
from driver import clock
from driver.checkout import ROOT
from driver.ports import LogLine
from driver.stacks.children import Child, child_env, ended

NAME = "toxiproxy-server"
VARIABLE = "LABCTL_TOXIPROXY"
"""Names the program where it is not on PATH."""
SERVICE = "fault-proxy"
_LOOPBACK = "127.0.0.1"
_ASK_S = 10.0
_START_S = 10.0
_RETRY_S = 0.01
_GRACE_S = 1.0
_BOUND = ROOT / "driver" / "stacks" / "bound_program.py"


def find_toxiproxy(cases: Sequence[str]) -> Path:
    """The program; raises LabError FAULT_PROXY_MISSING, naming the cases that need it."""
    named = os.environ.get(VARIABLE)
    found = shutil.which(named or NAME)
    if found is None:
        raise LabError(
            ErrorCode.FAULT_PROXY_MISSING,
            f"{len(cases)} of the selected cases have network faults, and there is no {named or NAME} to apply them",
            found=[Found("has network faults", place=case_id) for case_id in cases],
            expected=f"{NAME} of toxiproxy 2.12 on PATH, or its path in {VARIABLE}",
            next_step="--backend compose, or leave these cases out with --case or --only; response faults need none",
        )
    return Path(found).resolve()


def toxiproxy_facts(program: Path) -> Program:
    """Its version and digest; raises LabError FAULT_PROXY_MISSING for a file that is no toxiproxy."""
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        raise _no_toxiproxy(program, str(trouble)) from trouble
    version = done.stdout.strip()
    if done.returncode or not version.startswith(NAME):
        raise _no_toxiproxy(program, f"`{program} -version` ended with {done.returncode} and said {version[:200]!r}")
    return Program(name=NAME, version=version[:200], digest=digest_of_file(program))


def _no_toxiproxy(program: Path, cause: str) -> LabError:
    return LabError(
        ErrorCode.FAULT_PROXY_MISSING,
        f"{program} cannot be used as toxiproxy",
        cause=cause,
        next_step=f"{program} -version",
    )


@contextmanager
def toxiproxy(program: Path, *, upstream: str, log: LogLine) -> Iterator[FaultProxyOrder]:
    """Within: it runs, and its API answers. After: it is gone; it also goes with a driver that is killed.

    Raises LabError FAULT_NOT_APPLIED when it does not come up.
    """
    port = _free_port()
    argv = [sys.executable, "-IS", str(_BOUND), str(os.getpid()), str(program)]
    argv += [f"-host={_LOOPBACK}", f"-port={port}", "-proxy-metrics"]
    child = Child.start(SERVICE, argv, cwd=Path("/"), env=child_env(LOG_LEVEL="error"))
    with ended(child, grace_s=_GRACE_S):
        child.follow(log)
        _await(child, port)
        yield FaultProxyOrder(
            admin_host=_LOOPBACK, admin_port=port, listen=_LOOPBACK, host=_LOOPBACK, upstream=upstream
        )


def _free_port() -> int:
    with socket.create_server((_LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _await(child: Child, port: int) -> None:
    until = clock.monotonic_s() + _START_S
    while True:
        try:
            socket.create_connection((_LOOPBACK, port), timeout=_START_S).close()
        except OSError as trouble:
            status = child.exit_status(within_s=_RETRY_S)
            if status is None and clock.monotonic_s() < until:
                continue
            child.end_of_log(within_s=_GRACE_S)
            how = f"did not listen within {_START_S:g} s" if status is None else f"ended with status {status}"
            raise LabError(
                ErrorCode.FAULT_NOT_APPLIED,
                f"the fault proxy {how}",
                cause=" / ".join(list(child.tail)[-3:]) or str(trouble),
                next_step="run without --profile fault, or leave out the cases with network faults",
            ) from trouble
        else:
            return
