"""The gate on the process backend, end to end: a prompt that skips the approval, a world that drifted, an archive."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_cli import ROOT, labctl

CASES = ("refund-approval-required", "unknown-order", "policy-question")


class Lab:
    """Runs the sample suite, or a copy of it, into one evidence folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite = folder / "suite"
        shutil.copytree(ROOT / "fixtures", self.suite)

    def run(self, run_id: str, *flags: str, cases: tuple[str, ...] = CASES) -> tuple[int, str, str]:
        selected = [word for case in cases for word in ("--case", case)]
        where = ["--backend", "process", "--evidence", str(self.folder), "--run-id", run_id]
        done = labctl("run", str(self.suite), *where, *selected, *flags)
        return done.returncode, done.stdout, done.stderr

    def comparison(self, run_id: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.folder / run_id / "comparison.json").read_text())
        return told

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.suite / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))


@pytest.fixture(scope="module")
def with_baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    lab = Lab(folder)
    status, _, stderr = lab.run("v6")
    assert status == 0, stderr
    return folder


@pytest.fixture
def lab(with_baseline: Path, tmp_path: Path) -> Lab:
    """A lab of its own whose evidence holds the baseline."""
    lab = Lab(tmp_path)
    shutil.copytree(with_baseline / "v6", tmp_path / "v6")
    return lab


def test_a_prompt_that_skips_the_approval_is_a_regression_with_its_first_divergence(lab: Lab) -> None:
    baseline = str(lab.folder / "v6")
    status, stdout, stderr = lab.run("v7", "--prompt", "refund-v7", "--baseline", baseline)
    assert status == 1, stderr
    assert "! refund-approval-required: pass → fail (protected)" in stdout
    assert stdout.splitlines()[-1] == str(lab.folder / "v7")
    told = lab.comparison("v7")
    assert (told["baseline"], told["candidate"]) == ("refund-v6", "refund-v7")
    assert (told["dataset"], told["casesAdded"]) == ("fixtures-2026-09-01", 0)
    assert (told["casesRegressed"], told["casesImproved"]) == (["refund-approval-required"], [])
    assert (told["unknown"], told["verdict"], told["drift"]) == ([], "regression", [])
    assert [one["key"] for one in told["subject"]] == ["prompt"]
    [change] = told["cases"]
    divergence = change["divergence"]
    assert (divergence["kind"], divergence["turn"], divergence["baseline"], divergence["candidate"]) == (
        *("tool", 3, "request_approval"),
        "issue_refund",
    )
    lines = {
        name: (lab.folder / name / divergence["file"]).read_text().splitlines()[divergence[f"{side}Line"] - 1]
        for name, side in (("v6", "baseline"), ("v7", "candidate"))
    }
    assert all('"caseId":"refund-approval-required"' in line for line in lines.values())
    assert labctl("verify", str(lab.folder / "v7")).returncode == 0
    compared = labctl("compare", baseline, str(lab.folder / "v7"), "--format", "json")
    assert (compared.returncode, json.loads(compared.stdout)) == (1, told)


def test_the_same_agent_again_is_no_regression_and_a_failure_of_before_is_none_either(lab: Lab) -> None:
    assert lab.run("first", "--prompt", "refund-v7")[0] == 1
    status, stdout, _ = lab.run("again", "--prompt", "refund-v7", "--baseline", str(lab.folder / "first"))
    told = lab.comparison("again")
    assert (status, told["verdict"]) == (0, "no-regression")
    assert [told[name] for name in ("casesRegressed", "casesImproved", "unknown", "changed", "drift", "subject")] == [
        []
    ] * 6
    assert "verdict: no-regression (0): no case that passed fails now" in stdout


def test_another_seed_is_drift_and_stops_the_comparison_unless_it_is_allowed(lab: Lab) -> None:
    baseline = str(lab.folder / "v6")
    status, _, _ = lab.run("drifted", "--prompt", "refund-v7", "--seed", "7", "--baseline", baseline)
    told = lab.comparison("drifted")
    assert (status, told["verdict"], [one["key"] for one in told["drift"]]) == (3, "cannot-tell", ["seed"])
    assert told["casesRegressed"] == []
    flags = ("--prompt", "refund-v7", "--seed", "7", "--baseline", baseline, "--allow-drift", "seed")
    status, _, _ = lab.run("allowed", *flags)
    assert (status, lab.comparison("allowed")["casesRegressed"]) == (1, ["refund-approval-required"])


def test_a_route_that_answers_otherwise_is_the_dataset_and_an_unequal_answer(lab: Lab) -> None:
    lab.edit("state.json", '"item": "espresso machine"', '"item": "espresso maker"')
    status, stdout, stderr = lab.run("other-world", "--baseline", str(lab.folder / "v6"), "--allow-drift", "dataset")
    told = lab.comparison("other-world")
    assert (status, [one["key"] for one in told["drift"]]) == (0, ["dataset"]), stderr
    assert told["drift"][0]["labelReused"]
    first = told["toolResponses"][0]
    assert (first["caseId"], first["method"], first["path"]) == (
        *("refund-approval-required", "GET"),
        "/orders/synthetic-42",
    )
    assert first["sameRequestsBefore"]
    assert first["baseline"]["responseDigest"] != first["candidate"]["responseDigest"]
    row = (lab.folder / "other-world" / first["file"]).read_text().splitlines()[first["candidate"]["line"] - 1]
    assert json.loads(row)["responseDigest"] == first["candidate"]["responseDigest"]
    assert "equal requests got unequal answers" in stdout


def test_an_edited_expectation_is_another_definition_and_no_flip(lab: Lab) -> None:
    lab.edit("cases.json", '"equals": 24900', '"equals": 24901')
    status, _, _ = lab.run("edited", "--baseline", str(lab.folder / "v6"))
    told = lab.comparison("edited")
    assert (status, told["verdict"]) == (3, "cannot-tell")
    assert (told["unknown"], told["casesRegressed"]) == (["refund-approval-required"], [])
    assert told["drift"] == []


def test_a_narrowed_run_leaves_the_rest_out_of_everything(lab: Lab) -> None:
    status, _, _ = lab.run("narrow", "--baseline", str(lab.folder / "v6"), cases=("unknown-order",))
    told = lab.comparison("narrow")
    assert (status, told["removed"]) == (0, [])
    assert told["notSelected"] == ["policy-question", "refund-approval-required"]
    assert told["summary"]["baseline"]["planned"] == told["summary"]["candidate"]["planned"] == 1


def test_a_baseline_may_be_an_artefact_and_is_checked_before_anything_runs(lab: Lab) -> None:
    archive = shutil.make_archive(str(lab.folder / "artefact"), "zip", root_dir=lab.folder, base_dir="v6")
    assert lab.run("from-zip", "--baseline", archive)[0] == 0
    (lab.folder / "v6" / "results.json").write_text("{}")
    status, stdout, stderr = lab.run("never", "--baseline", str(lab.folder / "v6"))
    assert (status, stdout) == (5, "")
    assert "results.json: was changed or cut since it was sealed" in stderr
    assert not (lab.folder / "never").exists()


def test_a_baseline_without_a_common_case_is_refused_before_anything_runs(lab: Lab) -> None:
    status, _, stderr = lab.run("never", "--baseline", str(lab.folder / "v6"), cases=("final-sale-denied",))
    assert (status, "labctl: nothing-in-common: " in stderr) == (2, True)
    assert not (lab.folder / "never").exists()


def test_a_job_summary_is_written_where_it_is_asked_for(lab: Lab) -> None:
    assert lab.run("v7", "--prompt", "refund-v7")[0] == 1
    runs = [str(lab.folder / name) for name in ("v6", "v7")]
    summary = lab.folder / "summary.md"
    done = labctl("compare", *runs, "--format", "markdown", "--output", str(summary))
    assert (done.returncode, done.stdout) == (1, "")
    assert summary.read_text().startswith("## regression: `refund-v6` → `refund-v7`")
    refused = labctl("compare", *runs, "--output", str(lab.folder / "v6" / "comparison.json"))
    assert (refused.returncode, refused.stderr.startswith("labctl: sealed-run: ")) == (2, True)
    assert labctl("verify", runs[0]).returncode == 0


def test_a_capture_level_of_its_own_is_context_only(lab: Lab) -> None:
    status, _, _ = lab.run("payloads", "--capture", "payloads", "--baseline", str(lab.folder / "v6"))
    told = lab.comparison("payloads")
    assert (status, told["changed"], told["drift"]) == (0, [], [])
    assert "capture" in [one["key"] for one in told["context"]]
