"""What counts as having met a fault, and what does not, in runs through the real toxiproxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.fault_runs import FaultRun
from tests.fakes.fault_suite import response_case, toxic_case, write_fault_suite

Labctl = Callable[..., FaultRun]
LATER = {"skip": 1, "times": 1}
MANY = 1_000_000


def limited(to: int, *how: str, stream: str = "downstream") -> dict[str, Any]:
    return toxic_case("limit_data", f"to-{to}", *how, stream=stream, attributes={"bytes": to})


CASES = [
    toxic_case("timeout", "silent", "patient"),
    response_case("status", "silent", "patient"),
    response_case("status", "thrice", "patient", **LATER),
    response_case("malformed-json", "thrice", "brittle", **LATER),
    limited(MANY, "patient"),
    limited(0, "patient"),
    limited(100, "big", "patient"),
    limited(0, "big", "patient"),
    limited(399_000, "big", "patient"),
    limited(MANY, "big", "patient"),
    limited(MANY, "patient", stream="upstream"),
    toxic_case("reset_peer", "big", "patient"),
    toxic_case("reset_peer", "model", "patient", target="model"),
    toxic_case("latency", "model", "brittle", target="model"),
    toxic_case("timeout", "other-target", "patient", target="model"),
    {
        "id": "many.network.model.patient",
        "faults": {
            "network": [
                {"type": "latency", "attributes": {"latency": 50}},
                {"type": "latency", "attributes": {"latency": 50}},
                {"type": "timeout", "attributes": {"timeout": 100}, "target": "model"},
            ]
        },
    },
]
BY_ID = {case["id"]: case for case in CASES}
MET = {
    "timeout.downstream.network.silent.patient": False,
    "status.response.silent.patient": False,
    f"limit_data.downstream.network.to-{MANY}.patient": False,
    "limit_data.downstream.network.to-0.patient": True,
    "limit_data.downstream.network.to-100.big.patient": True,
    "limit_data.downstream.network.to-0.big.patient": True,
    "limit_data.downstream.network.to-399000.big.patient": True,
    f"limit_data.downstream.network.to-{MANY}.big.patient": False,
    f"limit_data.upstream.network.to-{MANY}.patient": False,
    "reset_peer.downstream.network.big.patient": True,
    "reset_peer.downstream.network.model.patient": True,
    "timeout.downstream.network.other-target.patient": False,
}


@pytest.fixture(scope="module")
def run(labctl: Labctl, tmp_path_factory: pytest.TempPathFactory) -> FaultRun:
    suite = write_fault_suite(tmp_path_factory.mktemp("suites") / "suite", CASES)
    return labctl(str(suite), "--profile", "fault", "-c", "3")


@pytest.mark.parametrize("case", MET)
def test_a_fault_that_was_met_is_judged_and_one_that_was_not_is_unknown(run: FaultRun, case: str) -> None:
    assert [met for _, met in run.met(case)] == [MET[case]], run.attempts[case]
    expected = ("pass", None) if MET[case] else ("unknown", "fault-not-exposed")
    assert run.verdict(case) == expected, run.attempts[case]


def test_an_agent_that_never_calls_did_not_survive_its_fault_and_is_told_so(run: FaultRun) -> None:
    attempt = run.attempts["timeout.downstream.network.silent.patient"]

    assert attempt["outcome"] == "unknown"
    assert attempt["reason"] == (
        "it never met the network fault timeout on downstream of its tools (no request came through the proxy)"
    )
    assert "survived" not in run.stdout


def test_a_response_fault_on_the_second_answer_spoils_that_one_alone(run: FaultRun) -> None:
    case = "status.response.thrice.patient"
    rows = [row for row in run.rows() if row["case"] == case]

    assert [row["status"] for row in rows] == [200, 503, 200]
    assert [row["fault"] for row in rows] == [None, "status#0", None]
    assert run.verdict(case) == ("pass", None)
    assert run.verdict("malformed-json.response.thrice.brittle") == ("fail", "agent-error")


def test_the_model_has_a_port_of_its_own_under_fault(run: FaultRun) -> None:
    slow = run.attempts["latency.downstream.network.model.brittle"]

    assert run.verdict(slow["caseId"]) == ("fail", "agent-error")
    assert [(fault["target"], fault["met"]) for fault in slow["faults"]] == [("model", True)]


def test_each_fault_of_a_case_has_a_witness_of_its_own(run: FaultRun) -> None:
    case = "many.network.model.patient"

    assert run.met(case) == [("latency", False), ("latency", False), ("timeout", True)]
    assert run.verdict(case) == ("unknown", "fault-not-exposed")


def test_side_by_side_each_attempt_meets_its_own_faults_on_the_same_route(
    labctl: Labctl, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cases = [toxic_case("latency", "patient"), toxic_case("reset_peer", "brittle"), toxic_case("slicer", "patient")]
    suite = write_fault_suite(tmp_path_factory.mktemp("suites") / "suite", cases)
    run = labctl(str(suite), "--profile", "fault", "-c", "6", "--repeat", "4")
    seen = {
        (line["caseId"].partition(".")[0], line["outcome"], tuple(fault["type"] for fault in line["faults"]))
        for line in run.lines()
    }

    assert seen == {
        ("latency", "pass", ("latency",)),
        ("reset_peer", "fail", ("reset_peer",)),
        ("slicer", "pass", ("slicer",)),
    }
    assert all(fault["met"] for line in run.lines() for fault in line["faults"])


def test_the_lab_s_own_loop_bears_a_slow_model_and_a_cut_tool_and_fails_on_a_model_that_is_cut(
    labctl: Labctl, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cases = [
        {**toxic_case("latency", "model", target="model"), "input": "look"},
        {**toxic_case("reset_peer", "tool"), "input": "look"},
        {**toxic_case("reset_peer", "model", target="model"), "input": "look"},
    ]
    suite = write_fault_suite(tmp_path_factory.mktemp("suites") / "suite", cases)
    run = labctl(str(suite), "--profile", "fault", "--agent", "talker")
    slow, cut_tool, cut_model = (case["id"] for case in cases)

    assert (run.verdict(slow), run.met(slow)) == (("pass", None), [("latency", True)])
    assert (run.verdict(cut_tool), run.met(cut_tool)) == (("pass", None), [("reset_peer", True)])
    assert run.attempts[cut_tool]["trajectory"][0]["status"] == 200  # the journal has it; the agent never saw it
    assert (run.verdict(cut_model), run.met(cut_model)) == (("fail", "agent-error"), [("reset_peer", True)])
