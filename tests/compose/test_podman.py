"""One plain `podman run` of an attempt's container, by the command line that docker gets but for what it lacks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.suite.settings import Limits
from driver.stacks.container_argv import AttemptContainer
from tests.compose.engine_calls import docker
from tests.compose.launching import labctl_of_checkout, told

pytestmark = pytest.mark.engine

TOKEN = "known-to-this-test"
NETWORK = "labtools"
STARTUP_S = 30.0
# its own defaults would raise limits, which a machine that is a container itself does not allow
CONFIGURATION = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
"""


@pytest.fixture(scope="module")
def podman(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Podman with a store and a configuration of its own, as a program; what it keeps is gone afterwards.

    It refuses a runroot of more than 50 characters.
    """
    found = shutil.which("podman")
    if found is None or shutil.which("runc") is None or os.getuid() != 0:
        pytest.skip("needs podman with runc, netavark and aardvark-dns, and root: see CONTRIBUTING.md")
    folder, short = tmp_path_factory.mktemp("podman"), Path(tempfile.mkdtemp(prefix="labpod-"))
    (folder / "containers.conf").write_text(CONFIGURATION)
    program = folder / "podman"
    places = f"--root {folder}/root --runroot {short}/run --network-config-dir {folder}/networks"
    conf = f"CONTAINERS_CONF={folder}/containers.conf"
    program.write_text(f'#!/bin/sh\nexec env {conf} {found} --storage-driver vfs {places} "$@"\n')
    program.chmod(0o755)
    yield program
    called(program, "rm", "--all", "--force")
    called(program, "network", "rm", "--force", NETWORK)
    called(program, "system", "reset", "--force")
    shutil.rmtree(short)


def called(program: Path, *arguments: str, given: bytes = b"") -> str:
    done = subprocess.run([str(program), *arguments], input=given, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, f"podman {' '.join(arguments)}\n{done.stderr.decode()}"
    return done.stdout.decode().strip()


@pytest.fixture(scope="module")
def image(podman: Path, images: Path) -> str:
    """The lab's Python and agent_host, and nothing else, as podman has it."""
    named = next(line for line in (images / ".env").read_text().splitlines() if line.startswith("AGENT_IMAGE="))
    container = docker("create", named.partition("=")[2])
    try:
        told = subprocess.run(["docker", "cp", f"{container}:/opt", "-"], capture_output=True, check=True, timeout=120)
    finally:
        docker("rm", container)
    called(podman, "import", "-", "lab-python:1", given=told.stdout)
    return "lab-python:1"


def test_the_command_line_of_an_attempt_runs_under_podman_with_runc(podman: Path, image: str, tmp_path: Path) -> None:
    called(podman, "network", "create", NETWORK)
    tmp_path.chmod(0o755)
    container = AttemptContainer(
        runtime=str(podman),
        name="attempt",
        alias="attempt-1",
        image=image,
        token_sha256=hashlib.sha256(TOKEN.encode()).hexdigest(),
        networks=(NETWORK,),
        user="10001:10001",
        limits=Limits(memory_mb=256, pids=64),
        mounts={"/agent-suite": tmp_path},
        working_dir=None,
        lent_volume=None,
    )

    # podman 4 gives an empty folder no owner (its mode is enough where the image has no such one), no number of files,
    # and with a limit on files it wants one on processes too, which a machine may not grant
    words = [re.sub(r",(uid|gid|nr_inodes)=\d+", "", word) for word in container.argv()[1:]]
    at = words.index("--ulimit")
    called(podman, *words[:at], *words[at + 2 :])
    address = called(
        podman, "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", "attempt"
    )
    said = _talk(address)

    assert [message["op"] for message in said] == ["hello", "started", "out", "ended"]
    assert json.loads(said[2]["text"]) == [10001, "/working_dir"]
    assert said[3]["exitCode"] == 0


def test_podman_cannot_join_the_network_of_dockers_stack_and_is_refused(
    podman: Path, images: Path, tmp_path: Path
) -> None:
    flags = ("--agent", "desk", "--case", "unknown-order", "--backend", "compose", "--isolation", "container")

    done = labctl_of_checkout(tmp_path).run("fixtures", *flags, "--container-runtime", str(podman))

    assert done.exit_code == 4, told(done)
    assert f"labctl: runtime-unusable: `{podman}` cannot start a container beside the stack" in done.stderr
    assert (done.left, done.folder.exists()) == ({}, False)


def _talk(address: str) -> list[dict[str, Any]]:
    program = "import json, os; print(json.dumps([os.getuid(), os.getcwd()]))"
    python = ["/opt/lab/lib/ld.so", "--library-path", "/opt/lab/lib", "/opt/lab/bin/python3", "-IS", "-c", program]
    order: dict[str, Any] = {
        "op": "start",
        "id": "a",
        "argv": python,
        "env": {},
        "stdin": "",
        "seconds": 20,
        "cwd": "/working_dir",
    }
    order |= {"outputBytes": 1000, "graceSeconds": 1}
    until = time.monotonic() + STARTUP_S
    while True:
        try:
            connection = socket.create_connection((address, 7070), 2)
            break
        except OSError:
            assert time.monotonic() < until, "agent_host was never there"
            time.sleep(0.05)
    with connection, connection.makefile("rb") as lines:
        connection.settimeout(STARTUP_S)
        connection.sendall(TOKEN.encode() + b"\n")
        said = [json.loads(lines.readline())]
        connection.sendall(json.dumps(order).encode() + b"\n")
        while said[-1]["op"] != "ended":
            said.append(json.loads(lines.readline()))
    return said
