"""Every type of toxic and every response fault, through the real toxiproxy as a process of the driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.fakes.fault_runs import FaultRun
from tests.fakes.fault_suite import every_fault, write_fault_suite

Labctl = Callable[..., FaultRun]
CASES = list(every_fault())


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fault_suite(tmp_path_factory.mktemp("suites") / "suite", CASES)


@pytest.fixture(scope="module")
def run(labctl: Labctl, suite: Path) -> FaultRun:
    return labctl(str(suite), "--profile", "fault", "-c", "4")


@pytest.fixture(scope="module")
def clean(labctl: Labctl, suite: Path) -> FaultRun:
    return labctl(str(suite), "-c", "4", "--only", "patient")


@pytest.mark.parametrize("case", [case["id"] for case in CASES])
def test_an_agent_that_bears_the_fault_passes_and_one_that_does_not_fails_and_both_met_it(
    run: FaultRun, case: str
) -> None:
    heart = case.rpartition(".")[2]
    expected = ("pass", None) if heart == "patient" else ("fail", "agent-error")
    assert run.verdict(case) == expected, run.attempts[case]
    assert run.met(case) == [(case.partition(".")[0], True)]


def test_what_was_met_is_in_results_table_and_junit(run: FaultRun) -> None:
    by_id = {case["caseId"]: case for case in run.read("results.json")["cases"]}
    (timeout,) = by_id["timeout.downstream.network.patient"]["attempts"][0]["faults"]
    assert timeout["requestBytes"] > 0
    assert (timeout["sentBytes"], timeout["stream"], timeout["target"]) == (0, "downstream", "tools")
    (malformed,) = by_id["malformed-json.response.patient"]["attempts"][0]["faults"]
    assert (malformed["route"], malformed["answers"]) == ("lookup", 1)
    assert "FAULTS" in run.stdout.splitlines()[0] + run.stdout.splitlines()[1]
    properties = ET.parse(run.folder / "junit.xml").iter("property")  # noqa: S314 - the lab's own file
    told = {(element.get("name"), element.get("value")) for element in properties}
    assert ("attempt.1.fault.response.0", 'truncated from route "lookup": met, 1 such answers') in told
    assert "attempt.1.fault.network.0" in {name for name, _ in told}


def test_the_manifest_says_which_plan_which_profile_and_which_toxiproxy(run: FaultRun, clean: FaultRun) -> None:
    fault, none = run.read("environment.json"), clean.read("environment.json")
    assert fault["conditions"]["profiles"] == ["fault"]
    assert fault["conditions"]["faultPlanDigest"].startswith("sha256:")
    assert fault["dependencies"]["programs"]["toxiproxy-server"]["version"] == "toxiproxy-server version 2.12.0"
    assert none["conditions"]["profiles"] == []
    assert "faultPlanDigest" not in none["conditions"]
    assert "toxiproxy-server" not in none["dependencies"]["programs"]


def test_without_the_profile_nothing_is_spoilt_and_nothing_is_witnessed(clean: FaultRun) -> None:
    assert clean.exit_code == 0, clean.told()
    assert {clean.verdict(case) for case in clean.attempts} == {("pass", None)}
    assert not any(attempt.get("faults") for attempt in clean.attempts.values())
