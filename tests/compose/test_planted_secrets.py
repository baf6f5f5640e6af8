"""A secret that its agent tells everywhere, on Compose with a real collector: in no file, no inspect, no argv."""

from __future__ import annotations

import random
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.compose.engine_calls import docker, left_on_engine, remove_from_engine
from tests.compose.launching import FinishedRun, Labctl, LiveRun, labctl_of_checkout, told
from tests.compose.small_suites import EXPECTS_THE_ANSWER, small_suite
from tests.fakes.planted_secrets import random_secrets
from tests.fakes.secret_search import Leak, search_bytes, search_folder

pytestmark = pytest.mark.engine

NAME = "DESK_TOKEN"
SECRETS = {NAME: random_secrets(random.Random(20261130))["MESSAGE"]}  # noqa: S311 - inputs of a test
ALSO_INSPECTED = {"container", "network"}
FLAGS = ("--backend", "compose", "--isolation", "container", "--profile", "observe", "--capture", "payloads")


@pytest.fixture
def labctl(images: Path, tmp_path: Path) -> Labctl:
    return labctl_of_checkout(tmp_path)


def leaks_on_engine(run_id: str) -> tuple[set[str], list[Leak]]:
    """What `docker inspect` says of everything with the run's label: the kinds that there are, and the leaks."""
    leaks = []
    things = left_on_engine(run_id)
    for kind, ids in things.items():
        for one in ids:
            leaks += search_bytes(docker(kind, "inspect", one).encode(), SECRETS, where=kind)
    return set(things), leaks


def leaks_in_command_lines() -> list[Leak]:
    """Of every process of this machine, those in containers too."""
    leaks = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            content = path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended
        leaks += search_bytes(content.replace(b"\0", b" "), SECRETS, where="argv")
    return leaks


def leaks_of(run: FinishedRun) -> list[Leak]:
    """Those in what it left and said."""
    said = {"stdout": run.stdout, "stderr": run.stderr}
    found = [leak for name, text in said.items() for leak in search_bytes(text.encode(), SECRETS, where=name)]
    return found + search_folder(run.folder, SECRETS)


def go_on(live: LiveRun) -> None:
    agent = docker("ps", "--quiet", "--filter", f"label=labctl.run={live.id}", "--filter", "label=labctl.attempt")
    docker("exec", agent, "touch", f"/tmp/go-on-{live.id}")  # noqa: S108 - in the container


def ran(labctl: Labctl, work: Path, *flags: str) -> tuple[FinishedRun, set[str], list[Leak]]:
    """The run's end; what kinds of things were inspected while it lived, and what leaked there and into argv."""
    expect = {**EXPECTS_THE_ANSWER, "unmatchedRequests": "allow"}
    suite = small_suite(work / "suite", "telling", cases=[{"id": "tells", "expect": expect}])
    environment: Mapping[str, str] = {NAME: SECRETS[NAME]}
    with labctl.started(str(suite), *FLAGS, "-e", NAME, *flags, env=environment) as live:
        live.until(lambda: live.agents_under_way() == ["tells"])
        kinds, leaks = leaks_on_engine(live.id)
        leaks += leaks_in_command_lines()
        go_on(live)
        run = live.wait()
    assert run.exit_code == 0, told(run)
    assert run.left == {}
    return run, kinds, leaks


def test_a_secret_that_is_told_everywhere_is_found_nowhere(labctl: Labctl, tmp_path: Path) -> None:
    run, kinds, leaks = ran(labctl, tmp_path)

    assert kinds >= ALSO_INSPECTED
    assert leaks == []
    assert leaks_of(run) == []
    assert "otel-collector" in run.read("environment.json")["images"]
    assert run.read("environment.json")["telemetry"]["spansLost"] == 0
    assert labctl.call("verify", str(run.folder)).returncode == 0


def test_the_search_finds_it_in_the_files_of_a_run_that_was_told_that_it_is_none(
    labctl: Labctl, tmp_path: Path
) -> None:
    """The control; also then it is in no inspect and no argv, for no value travels there."""
    run, _, leaks = ran(labctl, tmp_path, "--not-secret", NAME)

    assert leaks == []
    found = leaks_of(run)
    assert {"journal.jsonl", "traces/attempts.jsonl", "traces/otlp.jsonl"} <= {leak.where for leak in found}
    assert {"raw", "base64-decoded"} <= {leak.form for leak in found}


def test_the_search_finds_it_in_labels_environments_and_command_lines(images: Path) -> None:
    """The control for what lives on the engine and among processes."""
    run_id = f"test-{uuid.uuid4().hex[:12]}"
    label = ("--label", f"labctl.run={run_id}")
    planted = ("--label", f"planted={SECRETS[NAME]}")
    image = docker("image", "ls", "--quiet", "--filter", "reference=labctl/agent").split()[0]
    try:
        docker("create", *label, "--env", f"PLANTED={SECRETS[NAME]}", image, "true")
        docker("network", "create", "--internal", *label, *planted, run_id)
        docker("volume", "create", *label, *planted, run_id)
        kinds, leaks = leaks_on_engine(run_id)
    finally:
        remove_from_engine(run_id)
    assert kinds == {"container", "network", "volume"} == {leak.where for leak in leaks}
    idle = [sys.executable, "-c", "input()", SECRETS[NAME]]
    with subprocess.Popen(idle, stdin=subprocess.PIPE) as process:
        found = leaks_in_command_lines()
        process.kill()
    assert {leak.where for leak in found} == {"argv"}
    assert leaks_in_command_lines() == []
