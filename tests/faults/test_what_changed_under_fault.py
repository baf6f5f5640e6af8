"""The two prompts of the sample suite under its fault job: what regressed, what recovered, and no mixing with clean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_cli import labctl as command
from tests.fakes.fault_runs import FaultRun

Labctl = Callable[..., FaultRun]


@pytest.fixture(scope="module")
def runs(labctl: Labctl) -> dict[str, Path]:
    """By prompt and job."""
    return {
        f"{prompt} {job}": labctl("--prompt", prompt, "--job", job).folder
        for prompt in ("refund-v6", "refund-v7")
        for job in ("clean", "fault")
    }


def compared(baseline: Path, candidate: Path) -> tuple[int, dict[str, Any]]:
    done = command("compare", str(baseline), str(candidate), "--format", "json")
    return done.returncode, json.loads(done.stdout)


def test_under_fault_one_behaviour_regressed_and_one_recovered(runs: dict[str, Path]) -> None:
    status, told = compared(runs["refund-v6 fault"], runs["refund-v7 fault"])
    assert status == 1
    assert (told["baseline"], told["candidate"], told["dataset"]) == ("refund-v6", "refund-v7", "fixtures-2026-09-01")
    assert (told["casesAdded"], told["unknown"], told["changed"], told["drift"]) == (0, [], [], [])
    assert told["casesRegressed"] == ["refund-approval-required"]
    assert told["casesImproved"] == ["policy-timeout-recovery"]


def test_clean_only_the_regression_shows(runs: dict[str, Path]) -> None:
    status, told = compared(runs["refund-v6 clean"], runs["refund-v7 clean"])
    assert (status, told["casesRegressed"], told["casesImproved"]) == (1, ["refund-approval-required"], [])


@pytest.mark.parametrize("order", [("clean", "fault"), ("fault", "clean")], ids="-".join)
def test_clean_and_fault_are_no_pair_in_either_order(runs: dict[str, Path], order: tuple[str, str]) -> None:
    status, told = compared(*(runs[f"refund-v6 {job}"] for job in order))
    assert (status, told["verdict"], told["comparable"]) == (3, "cannot-tell", False)
    assert {"profiles", "faultPlan"} <= {one["key"] for one in told["drift"]}
    assert (told["casesRegressed"], told["casesImproved"], told["changed"]) == ([], [], [])


def test_a_gate_of_another_job_cannot_tell(runs: dict[str, Path], labctl: Labctl) -> None:
    run = labctl("--job", "clean", "--case", "unknown-order", "--baseline", str(runs["refund-v6 fault"]))
    assert run.exit_code == 3, run.told()
