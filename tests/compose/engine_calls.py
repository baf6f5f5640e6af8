"""Bounded questions to the engine, and what of one run of labctl is still on it and on this machine."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

RUN_LABEL = "labctl.run"
_LISTS = {
    "container": ("ps", "--all", "--no-trunc", "--format", "{{.ID}}"),
    "network": ("network", "ls", "--no-trunc", "--format", "{{.ID}}"),
    "volume": ("volume", "ls", "--format", "{{.Name}}"),
}
_REMOVALS = {
    "container": ("rm", "--force", "--volumes"),
    "network": ("network", "rm"),
    "volume": ("volume", "rm", "--force"),
}
_GOING = re.compile(
    r"removal of container \S+ is already in progress|no such (container|network|volume)|network \S+ not found"
    r"|^exit status 1$",
    re.IGNORECASE,
)
"""What the engine says of a thing that somebody else removes or removed; its client adds the last one of networks."""
_GONE_S = 60.0


def docker(*arguments: str, given: str = "", timeout_s: float = 60) -> str:
    """What `docker ARGUMENTS` prints, told `given` on stdin; a failure of it fails the test with its words."""
    done = subprocess.run(
        ["docker", *arguments], input=given, capture_output=True, text=True, check=False, timeout=timeout_s
    )
    assert done.returncode == 0, f"docker {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def containers_of(run_id: str, *, service: str | None = None) -> list[str]:
    """Ids of a run's containers that run now, of one service or of all."""
    filters = [f"label={RUN_LABEL}={run_id}", *([f"label=com.docker.compose.service={service}"] if service else [])]
    return docker("ps", "--no-trunc", "--quiet", *(part for each in filters for part in ("--filter", each))).split()


def kill_containers_of(run_id: str) -> None:
    """End all containers of a run at once; one that ended because another one did is as dead as it should be."""
    argv = ["docker", "kill", *containers_of(run_id)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert containers_of(run_id) == [], done.stderr


def left_on_engine(run_id: str) -> dict[str, list[str]]:
    """Kind to ids of everything on the engine with the run's label, running or not; kinds with none are left out."""
    found = {kind: docker(*ask, "--filter", f"label={RUN_LABEL}={run_id}").split() for kind, ask in _LISTS.items()}
    return {kind: ids for kind, ids in found.items() if ids}


def remove_from_engine(run_id: str) -> None:
    """Remove what is left of a run, and wait until it is gone; containers first, which hold networks and volumes.

    Raises:
        AssertionError: the engine refuses, for another reason than that it is going or gone, or it stays.

    """
    until = time.monotonic() + _GONE_S
    while left := left_on_engine(run_id):
        assert time.monotonic() < until, f"still on the engine after {_GONE_S:g} s: {left}"
        kind, ids = next(iter(left.items()))
        argv = ["docker", *_REMOVALS[kind], *ids]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        assert not refusals(done.stderr), f"{' '.join(argv)}\n{done.stderr}"
        time.sleep(0.1 if done.returncode else 0)


def refusals(stderr: str) -> list[str]:
    """Lines of a removal that failed, but for those that say that the thing is going or gone."""
    return [line for line in stderr.splitlines() if line.strip() and not _GOING.search(line)]


def processes_with(mark: str) -> dict[int, str]:
    """Pid to command line of every process that has this text in its command line or its environment.

    Processes in containers are processes of this machine too. Those of other users show their command line only.
    """
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        command = _read(folder / "cmdline")
        if mark.encode() in command + _read(folder / "environ"):
            found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # gone meanwhile, or another user's environment
        return b""
