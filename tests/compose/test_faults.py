"""Faults on Compose: the real toxiproxy as the service fault-proxy, for shared and for own containers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compose.engine_calls import docker
from tests.compose.launching import FinishedRun, labctl_of_checkout, told
from tests.fakes.fault_suite import every_fault, response_case, toxic_case, write_fault_suite

pytestmark = pytest.mark.engine

CASES = list(every_fault())
ON_MODEL = toxic_case("timeout", "model", "patient", target="model")
SILENT = toxic_case("timeout", "silent", "patient")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def run(images: Path, work: Path) -> FinishedRun:
    suite = write_fault_suite(work / "suite", [*CASES, ON_MODEL, SILENT])
    return labctl_of_checkout(work).run(str(suite), "--backend", "compose", "--profile", "fault", "-c", "4")


@pytest.mark.parametrize("case", [case["id"] for case in CASES])
def test_an_agent_that_bears_the_fault_passes_and_one_that_does_not_fails_and_both_met_it(
    run: FinishedRun, case: str
) -> None:
    heart = case.rpartition(".")[2]
    expected = ("pass", None) if heart == "patient" else ("fail", "agent-error")
    assert run.verdict(case) == expected, run.attempts[case]
    assert [(one["type"], one["met"]) for one in run.attempts[case]["faults"]] == [(case.partition(".")[0], True)]


def test_the_model_is_reached_through_a_proxy_of_its_own(run: FinishedRun) -> None:
    (fault,) = run.attempts[ON_MODEL["id"]]["faults"]

    assert (fault["target"], fault["met"]) == ("model", True)
    assert run.verdict(ON_MODEL["id"]) == ("pass", None)


def test_a_fault_on_a_route_that_is_never_called_is_not_survived(run: FinishedRun) -> None:
    assert run.verdict(SILENT["id"]) == ("unknown", "fault-not-exposed")


def test_the_run_is_sealed_leaves_nothing_and_says_which_proxy_it_was(run: FinishedRun) -> None:
    environment = run.read("environment.json")

    assert run.is_sealed, told(run)
    assert run.left == {}
    assert run.exit_code == 1
    assert environment["conditions"]["profiles"] == ["fault"]
    assert environment["conditions"]["faultPlanDigest"].startswith("sha256:")
    assert environment["images"]["fault-proxy"]["imageId"].startswith("sha256:")
    assert "toxiproxy-server" not in environment["dependencies"]["programs"]


def test_an_attempt_in_a_container_of_its_own_meets_its_faults_too(images: Path, work: Path) -> None:
    cases = [toxic_case("reset_peer", heart) for heart in ("patient", "brittle")]
    cases += [response_case("status", "patient"), ON_MODEL]
    suite = write_fault_suite(work / "own", cases)
    words = ("--backend", "compose", "--isolation", "container", "--profile", "fault")
    run = labctl_of_checkout(work).run(str(suite), *words)

    assert [run.verdict(case["id"])[0] for case in cases] == ["pass", "fail", "pass", "pass"], told(run)
    assert all(fault["met"] for line in run.attempts.values() for fault in line["faults"])
    assert run.left == {}


def test_when_the_proxy_dies_in_the_middle_its_attempts_are_unknown(images: Path, work: Path) -> None:
    slow = toxic_case("latency", "dying", "patient", attributes={"latency": 4_000})
    cases = [slow, toxic_case("latency", "patient"), response_case("status", "patient")]
    suite = write_fault_suite(work / "dying", cases)
    flags = (str(suite), "--backend", "compose", "--profile", "fault", "-c", "1")
    with labctl_of_checkout(work).started(*flags) as live:
        live.until(lambda: _is_under_way(live.id))
        docker("kill", _proxy_of(live.id))
        run = live.wait()

    assert run.verdict(slow["id"]) == ("unknown", "infrastructure"), told(run)
    assert "the fault proxy was lost" in run.attempts[slow["id"]]["reason"]
    assert run.verdict(cases[1]["id"]) == ("unknown", "infrastructure")
    assert "its faults could not be applied" in run.attempts[cases[1]["id"]]["reason"]
    assert run.verdict(cases[2]["id"]) == ("pass", None)
    assert run.left == {}


def _proxy_of(run_id: str) -> str:
    labels = ("--filter", f"label=labctl.run={run_id}", "--filter", "label=com.docker.compose.service=fault-proxy")
    return docker("ps", "--quiet", *labels)


def _is_under_way(run_id: str) -> bool:
    """Whether a process of an agent runs in the agent's container."""
    labels = ("--filter", f"label=labctl.run={run_id}", "--filter", "label=com.docker.compose.service=agent")
    agent = docker("ps", "--quiet", *labels)
    if not agent or not _proxy_of(run_id):
        return False
    state = json.loads(docker("inspect", agent))[0]["State"]["Running"]
    return bool(state) and "caller.py" in docker("top", agent, "-eo", "pid,args")
