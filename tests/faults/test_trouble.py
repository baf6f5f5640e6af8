"""What is refused before a run with faults starts, and what happens when the fault proxy dies or lies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.controls.lab_processes import wait_until_gone
from tests.fakes.fault_runs import FaultRun
from tests.fakes.fault_suite import response_case, toxic_case, write_fault_suite

Labctl = Callable[..., FaultRun]
ROOT = Path(__file__).resolve().parents[2]
CUT, SPOILT = toxic_case("reset_peer", "patient"), response_case("status", "patient")
ON_MODEL = toxic_case("latency", "model", "patient", target="model")
KILLER = """\
import os, signal, sys
if "killer" in os.environ["LAB_CASE_ID"]:
    os.kill(int(open(os.environ["TOXIPROXY_PID"]).read()), signal.SIGKILL)
"""


def program(folder: Path, script: str) -> str:
    path = folder / "toxiproxy-server"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def no_directory_with_toxiproxy() -> str:
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder) / "toxiproxy-server").exists())


def test_without_toxiproxy_the_cases_that_need_it_are_refused_by_name(labctl: Labctl, tmp_path: Path) -> None:
    suite = write_fault_suite(tmp_path / "suite", [CUT, ON_MODEL, SPOILT])
    run = labctl(str(suite), "--profile", "fault", LABCTL_TOXIPROXY="", PATH=no_directory_with_toxiproxy())

    assert run.exit_code == 4, run.told()
    assert run.stderr.splitlines()[0] == (
        "labctl: fault-proxy-missing: 2 of the selected cases have network faults, and there is no toxiproxy-server to "
        "apply them"
    )
    assert f"found: {CUT['id']}: has network faults" in run.stderr
    assert f"found: {ON_MODEL['id']}: has network faults" in run.stderr
    assert not run.folder.exists()


def test_without_toxiproxy_response_faults_work_and_only_leaves_the_others_out(labctl: Labctl, tmp_path: Path) -> None:
    suite = write_fault_suite(tmp_path / "suite", [CUT, SPOILT])
    words = (str(suite), "--profile", "fault", "--only", "status")
    run = labctl(*words, LABCTL_TOXIPROXY="", PATH=no_directory_with_toxiproxy())

    assert run.exit_code == 0, run.told()
    assert run.met(SPOILT["id"]) == [("status", True)]


def test_a_program_that_is_no_toxiproxy_is_refused(labctl: Labctl, tmp_path: Path) -> None:
    suite = write_fault_suite(tmp_path / "suite", [CUT])
    run = labctl(str(suite), "--profile", "fault", LABCTL_TOXIPROXY=program(tmp_path, "echo hello"))

    assert run.exit_code == 4
    assert "labctl: fault-proxy-missing: " in run.stderr
    assert "said 'hello'" in run.stderr


@pytest.mark.parametrize(
    ("words", "script"),
    [
        ("it refused GET /metrics: 404 page not found", 'exec {real} "$1" "$2"'),
        ("the fault proxy ended with status 3", '[ "$1" = -version ] && exec {real} -version; echo full >&2; exit 3'),
    ],
)
def test_a_proxy_that_cannot_be_made_or_counted_stops_the_run_before_its_first_attempt(
    labctl: Labctl, toxiproxy: str, tmp_path: Path, words: str, script: str
) -> None:
    suite = write_fault_suite(tmp_path / "suite", [CUT, SPOILT])
    fake = program(tmp_path, script.replace("{real}", toxiproxy))
    run = labctl(str(suite), "--profile", "fault", LABCTL_TOXIPROXY=fake)

    assert run.exit_code == 4, run.told()
    assert "labctl: fault-not-applied: " in run.stderr
    assert words in run.stderr
    assert not run.folder.exists()


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("by-header", f'found: {CUT["id"]}: its agent has select = "header"'),
        (
            "elsewhere",
            f"found: {ON_MODEL['id']}: a toxic has the target model, and openai/gpt is asked at its provider",
        ),
    ],
)
def test_faults_that_an_agent_could_never_meet_are_refused_by_case(
    labctl: Labctl, tmp_path: Path, agent: str, words: str
) -> None:
    suite = write_fault_suite(tmp_path / "suite", [CUT, ON_MODEL, SPOILT])
    run = labctl(str(suite), "--profile", "fault", "--agent", agent)

    assert run.exit_code == 2, run.told()
    assert run.stderr.startswith(f'labctl: bad-usage: the agent "{agent}" cannot be given the network faults of ')
    assert words in run.stderr
    assert not run.folder.exists()


def test_when_toxiproxy_dies_its_attempts_are_unknown_and_others_go_on(
    labctl: Labctl, toxiproxy: str, tmp_path: Path
) -> None:
    cases = [toxic_case("latency", "killer", "patient"), CUT, SPOILT]
    suite = write_fault_suite(tmp_path / "suite", cases)
    agent = suite / "agents" / "caller.py"
    text = agent.read_text()
    agent.write_text(text.replace("\nmain()\n", "\n" + KILLER + "main()\n"))
    pid = tmp_path / "pid"
    fake = program(tmp_path, f'echo $$ > {pid}; exec {toxiproxy} "$@"')
    run = labctl(str(suite), "--profile", "fault", "-c", "1", "-e", f"TOXIPROXY_PID={pid}", LABCTL_TOXIPROXY=fake)

    under_way, later = (run.attempts[case["id"]] for case in cases[:2])
    assert (under_way["outcome"], under_way["class"]) == ("unknown", "infrastructure"), run.told()
    assert under_way["reason"].startswith("the fault proxy was lost: it gave no answer to DELETE /proxies/")
    assert (later["outcome"], later["class"]) == ("unknown", "infrastructure")
    assert later["reason"].startswith("its faults could not be applied: it gave no answer to POST /proxies")
    assert later["trajectory"] == []
    assert run.verdict(SPOILT["id"]) == ("pass", None)
    assert run.exit_code == 3


def test_toxiproxy_ends_with_a_driver_that_is_killed(toxiproxy: str, tmp_path: Path) -> None:
    suite = write_fault_suite(tmp_path / "suite", [toxic_case("latency", "patient", attributes={"latency": 60_000})])
    pid = tmp_path / "pid"
    fake = program(tmp_path, f'[ "$1" = -version ] || echo $$ > {pid}; exec {toxiproxy} "$@"')
    argv = [str(Path(sys.executable).with_name("labctl")), "run", str(suite), "--backend", "process"]
    argv += ["--profile", "fault", "--evidence", str(tmp_path / "evidence")]
    environ = {**os.environ, "LABCTL_TOXIPROXY": fake}
    with subprocess.Popen(argv, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        until = time.monotonic() + 60
        while not pid.is_file() or not pid.read_text().strip():
            assert time.monotonic() < until, "toxiproxy was not started"
            time.sleep(0.05)
        driver.send_signal(signal.SIGKILL)
    wait_until_gone(int(pid.read_text()))
