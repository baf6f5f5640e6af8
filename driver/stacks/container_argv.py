"""The command line that starts an attempt's container: what it may, what it sees, and nothing that is secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from contracts.suite.settings import Limits
from driver.stacks.room import NOFILE, OWN_WORK_SHARE, SHM_SHARE, TMP_SHARE, WORKING_DIR_SHARE, room

PORT = 7070
LAB = "/opt/lab"
"""Where the carried Python and agent_host are: in the lab's own image, or lent to another."""
PYTHON = (f"{LAB}/lib/ld.so", "--library-path", f"{LAB}/lib", f"{LAB}/bin/python3", "-IS")
AGENT_SUITE, WORKING_DIR, WORK = "/agent-suite", "/working_dir", "/work"
GIVEN = "/working_dir.given"
"""The case's folder, read-only: its copy in WORKING_DIR is bounded, which a folder of the machine's could not be."""
ROOT_SETUP_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SYS_CHROOT")
"""What package managers use. A process of the agent's user has none of them, and no way to get one."""


@dataclass(frozen=True, kw_only=True)
class AttemptContainer:
    """One container; names, paths and limits only: what an agent is told goes over the runner's connection."""

    runtime: str
    name: str
    alias: str
    """Its name on `networks[0]`."""
    image: str
    token_sha256: str
    networks: tuple[str, ...]
    user: str
    """`uid:gid`, not root."""
    limits: Limits
    mounts: Mapping[str, Path]
    """Path in the container to a folder of this machine, read-only."""
    working_dir: Path | None
    """What it is filled with before the runner is let in, on this machine; None: nothing."""
    lent_volume: str | None
    """Where /opt/lab comes from; None: the image has it."""
    setup_root: bool = False
    keep: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    def argv(self) -> list[str]:
        """The whole command; it returns when the container runs, and prints its id."""
        return [
            *(self.runtime, "run", "--detach", "--pull", "never", "--name", self.name),
            *(() if self.keep else ("--rm",)),
            *(part for name, value in self.labels.items() for part in ("--label", f"{name}={value}")),
            *(part for network in self.networks for part in ("--network", network)),
            *("--network-alias", self.alias),
            *self._rights(),
            *self._limits(),
            *self._mounts(),
            *("--workdir", WORKING_DIR, "--entrypoint", PYTHON[0], self.image),
            *(*PYTHON[1:], f"{LAB}/agent_host/__main__.py"),
            *("--listen", str(PORT), "--token-sha256", self.token_sha256, "--work", WORK),
            *(() if self.working_dir is None else ("--given", GIVEN, WORKING_DIR)),
            *(("--stay",) if self.keep else ()),
        ]

    def _rights(self) -> list[str]:
        added = ROOT_SETUP_CAPABILITIES if self.setup_root else ()
        return [
            *("--user", self.user, "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *(part for capability in added for part in ("--cap-add", capability)),
            *(() if self.setup_root else ("--read-only",)),
        ]

    def _limits(self) -> list[str]:
        memory = f"{self.limits.memory_mb}m"
        return [
            *("--memory", memory, "--memory-swap", memory, "--pids-limit", str(self.limits.pids)),
            *("--ulimit", f"nofile={NOFILE}:{NOFILE}"),
            *("--stop-signal", "SIGKILL"),  # agent_host heeds no other as the first process of a container
            *(() if self.limits.cpus is None else ("--cpus", f"{self.limits.cpus:g}")),
        ]

    def _mounts(self) -> list[str]:
        mounts = [f"type=bind,source={folder},target={path},readonly" for path, folder in self.mounts.items()]
        if self.lent_volume is not None:
            mounts.append(f"type=volume,source={self.lent_volume},target={LAB},readonly")
        if self.working_dir is not None:
            mounts.append(f"type=bind,source={self.working_dir},target={GIVEN},readonly")
        empty = {
            f"{WORK}:exec": OWN_WORK_SHARE,
            "/tmp:noexec": TMP_SHARE,  # noqa: S108 - in the container
            "/dev/shm:noexec": SHM_SHARE,  # noqa: S108 - in the container
            f"{WORKING_DIR}:exec": WORKING_DIR_SHARE,
        }
        # where an image has the folder, the mode is that folder's: then only its owner could write
        uid, _, gid = self.user.partition(":")
        return [
            *(part for mount in mounts for part in ("--mount", mount)),
            *(
                part
                for folder, share in empty.items()
                for part in ("--tmpfs", f"{folder},mode=1777,uid={uid},gid={gid},{room(share, self.limits).options}")
            ),
        ]


_ROOT_SETUP = """
import json, os, sys
order = json.load(sys.stdin)
env = {"PATH": os.environ.get("PATH", os.defpath)} | order["env"]
os.environ["PATH"] = env["PATH"]
try:
    os.execvpe("sh", ["sh", "-c", order["script"]], env)
except FileNotFoundError:
    print("no sh", flush=True)
    os._exit(127)
"""


def root_setup_argv(runtime: str, name: str) -> list[str]:
    """The command that runs a setup as root in a container; `root_setup_order` goes to its standard input."""
    enter = [runtime, "exec", "--interactive", "--user", "0:0", "--workdir", WORKING_DIR, name]
    return [*enter, *PYTHON, "-c", _ROOT_SETUP]


def root_setup_order(script: str, *, env: Mapping[str, str]) -> bytes:
    """What that command reads: no value stands in an argv, and the client's own variables are not mixed in."""
    return json.dumps({"script": script, "env": dict(env)}).encode()
