"""The program docker-agent of this machine: where it is, what it says of itself, and which file it is."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from contracts.canonical import digest_of_file
from contracts.errors import ErrorCode, LabError
from contracts.plan import Program
from driver.scratch import scratch_folder

NAME = "docker-agent"
IMAGE_KEY = "docker-agent"
"""The key of `binary_image` in plan.images."""
_VERSION_S = 20.0
_QUIET = {"TELEMETRY_ENABLED": "false", "DOCKER_AGENT_HIDE_TELEMETRY_BANNER": "1", "DOCKER_AGENT_AUTO_UPDATE": "false"}


def find_binary(host_env: Mapping[str, str]) -> Path:
    """The program on the path; raises LabError DOCKER_AGENT_MISSING."""
    found = shutil.which(NAME, path=host_env.get("PATH"))
    if found is None:
        raise LabError(
            ErrorCode.DOCKER_AGENT_MISSING,
            f"there is no program {NAME} on the path, and the agent is a docker-agent file",
            expected=f"{NAME}, which is the plugin of `docker agent` under its own name",
            next_step=f"put {NAME} into a folder of PATH; on Compose, or name an image that has it: binary_image",
        )
    return Path(found).resolve()


def binary_facts(binary: Path, *, host_env: Mapping[str, str]) -> Program:
    """Its version and digest; raises LabError DOCKER_AGENT_MISSING for a file that cannot be run."""
    with scratch_folder() as home:
        said = run_quietly([str(binary), "version"], home=home, host_env=host_env, seconds=_VERSION_S)
    if isinstance(said, str):
        raise LabError(
            ErrorCode.DOCKER_AGENT_MISSING,
            f"{binary} cannot be run",
            cause=said,
            next_step=f"{binary} version",
        )
    lines = said.stdout.splitlines()
    return Program(name=NAME, version=lines[0][:200] if lines else None, digest=digest_of_file(binary))


def run_quietly(  # noqa: PLR0913 - the parts of a process
    argv: list[str],
    *,
    home: Path,
    host_env: Mapping[str, str],
    seconds: float,
    cwd: Path | None = None,
    more: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str] | str:
    """The finished process with what it wrote, or why there is none.

    It has a home of its own, sends no telemetry, gets the variables of `more`, and runs in `cwd`, else in its home.
    """
    env = {"PATH": host_env.get("PATH", ""), "HOME": str(home), **_QUIET, **(more or {})}
    try:
        done = subprocess.run(
            argv,
            cwd=cwd or home,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as trouble:
        return str(trouble)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "it wrote nothing").splitlines()[-1]
        return f"exit status {done.returncode}: {last}"
    return done
