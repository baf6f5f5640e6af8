"""The sample suite under the profile fault: which prompt bears it, with each of its agents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fakes.fault_runs import FaultRun

Labctl = Callable[..., FaultRun]
FAULTS = {
    "policy-timeout-recovery": [("timeout", True)],
    "cut-connection": [("reset_peer", True)],
    "malformed-policy": [("malformed-json", True)],
    "policy-question": [("latency", True)],
}
CASES = tuple(f"--case={case}" for case in FAULTS)
WITHOUT_A_MODEL = tuple(f"--case={case}" for case in FAULTS if case != "policy-question")


@pytest.mark.parametrize(("prompt", "recovery"), [("refund-v6", "fail"), ("refund-v7", "pass")])
def test_the_newer_prompt_recovers_from_a_policy_that_gives_no_answer(
    labctl: Labctl, prompt: str, recovery: str
) -> None:
    run = labctl("fixtures", "--profile", "fault", "--prompt", prompt, *CASES)

    assert {case: run.met(case) for case in FAULTS} == FAULTS, run.told()
    outcomes = {case: run.verdict(case)[0] for case in FAULTS}
    assert outcomes == {**dict.fromkeys(FAULTS, "pass"), "policy-timeout-recovery": recovery}
    assert run.exit_code == (0 if recovery == "pass" else 1)


@pytest.mark.parametrize("agent", ["desk", "served-desk"])
def test_a_program_and_a_served_one_meet_the_same_faults(labctl: Labctl, agent: str) -> None:
    run = labctl("fixtures", "--profile", "fault", "--agent", agent, *WITHOUT_A_MODEL)

    assert run.exit_code == 0, run.told()
    assert {case: run.met(case) for case in run.attempts} == {case: FAULTS[case] for case in run.attempts}


@pytest.mark.parametrize("agent", ["support", "desk", "served-desk"])
def test_clean_every_case_with_faults_passes_and_meets_none(labctl: Labctl, agent: str) -> None:
    run = labctl("fixtures", "--agent", agent, *CASES)

    assert run.exit_code == 0, run.told()
    assert not any(run.met(case) for case in FAULTS)
