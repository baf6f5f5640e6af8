"""`doctor` and `clean` from another PID namespace, where a live run's pid means nothing: they take nothing of it."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from tests.compose.engine_calls import docker, left_on_engine
from tests.compose.launching import Labctl, labctl_of_checkout, told
from tests.compose.small_suites import waiting_suite

pytestmark = pytest.mark.engine

ELSEWHERE = ("unshare", "--pid", "--fork", "--mount-proc")


@pytest.fixture
def labctl(images: Path, tmp_path: Path) -> Labctl:
    tried = subprocess.run([*ELSEWHERE, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no other PID namespace for this user (root has one): {tried.stderr.strip()}")
    return labctl_of_checkout(tmp_path)


def test_a_live_run_is_neither_listed_as_dead_nor_cleaned_from_another_pid_namespace(
    labctl: Labctl, tmp_path: Path
) -> None:
    suite = waiting_suite(tmp_path / "suite", "slow")
    flags = ("--backend", "compose", "--isolation", "container")
    with labctl.started(str(suite), *flags) as live:
        live.until(lambda: live.agents_under_way() == ["slow"])
        here = dataclasses.replace(labctl, environ={**labctl.environ, "TMPDIR": str(live.scratch)})
        there = dataclasses.replace(here, argv=(*ELSEWHERE, *here.argv))
        before = left_on_engine(live.id)
        doctor, cleaned = there.call("doctor"), there.call("clean")
        assert (left_on_engine(live.id), live.process.poll()) == (before, None)
        assert set(before) == {"container", "network"}
        agent = docker("ps", "--quiet", "--filter", f"label=labctl.run={live.id}", "--filter", "label=labctl.attempt")
        docker("exec", agent, "touch", f"/tmp/go-on-{live.id}")  # noqa: S108 - in the container
        run = live.wait()
    names = [line for line in doctor.stdout.splitlines() if live.id in line and "dead" in line]
    assert names == []
    assert "of another PID namespace or machine: cannot tell" in doctor.stdout
    assert f"left alone: {live.id} is of another PID namespace or machine" in cleaned.stderr
    assert live.id not in cleaned.stdout
    assert run.exit_code == 0, told(run)
    assert run.left == {}


def test_what_a_killed_run_left_is_cleaned_in_its_own_pid_namespace_only(labctl: Labctl, tmp_path: Path) -> None:
    suite = waiting_suite(tmp_path / "suite", "slow")
    with labctl.started(str(suite), "--backend", "compose", "--isolation", "container") as live:
        live.until(lambda: live.agents_under_way() == ["slow"])
        live.process.kill()
        live.process.wait()
        here = dataclasses.replace(labctl, environ={**labctl.environ, "TMPDIR": str(live.scratch)})
        dataclasses.replace(here, argv=(*ELSEWHERE, *here.argv)).call("clean")
        assert left_on_engine(live.id) != {}
        assert f"of {live.id}" in here.call("clean").stdout
        assert left_on_engine(live.id) == {}
