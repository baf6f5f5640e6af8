"""Whole runs of the sample suite: what they leave, whose it is, and that neither backend nor concurrency changes it."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.compose.checkouts import USERS, user
from tests.compose.launching import FinishedRun, Labctl, labctl_of_checkout, told

pytestmark = pytest.mark.engine

AGENTS = ("support", "desk")
SERVICES = {"support": {"fixture-api", "eval-runner"}, "desk": {"fixture-api", "eval-runner", "agent"}}
WAYS = tuple(itertools.product(("compose", "process"), (1, 8), (1, 2)))
"""Backend, concurrency, and which of the two times."""
COMPARED = ("sequence", "route", "tool", "requestDigest", "responseDigest")
Way = tuple[str, int, int]


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def matrix(labctl: Labctl) -> dict[tuple[str, Way], FinishedRun]:
    """Every agent in every way, two runs at a time."""
    wanted = list(itertools.product(AGENTS, WAYS))

    def run(one: tuple[str, Way]) -> FinishedRun:
        agent, (backend, concurrency, _) = one
        return labctl.run("--agent", agent, "--backend", backend, "--concurrency", str(concurrency))

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(wanted, pool.map(run, wanted), strict=True))


@pytest.fixture(scope="module", params=USERS)
def as_user(request: pytest.FixtureRequest, images: Path) -> Iterator[tuple[int, Labctl]]:
    with user(request.param) as somebody:
        yield somebody.uid, somebody.labctl()


@pytest.mark.parametrize("agent", AGENTS)
def test_every_run_of_the_sample_suite_passes_and_is_sealed(
    labctl: Labctl, matrix: dict[tuple[str, Way], FinishedRun], agent: str
) -> None:
    runs = [matrix[agent, way] for way in WAYS]
    for run in runs:
        assert run.exit_code == 0, told(run)
        assert run.stdout.splitlines()[-1] == str(run.folder)
    verified = labctl.call("verify", *(str(run.folder) for run in runs))
    assert verified.returncode == 0, verified.stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_of_a_run_is_left_on_engine_or_machine(matrix: dict[tuple[str, Way], FinishedRun], agent: str) -> None:
    assert {way: matrix[agent, way].left for way in WAYS} == {way: {} for way in WAYS}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_manifest_names_backend_and_every_image_that_ran(
    matrix: dict[tuple[str, Way], FinishedRun], agent: str
) -> None:
    for way in WAYS:
        manifest = matrix[agent, way].read("environment.json")
        assert manifest["conditions"]["backend"] == way[0]
        images = manifest.get("images", {})
        assert set(images) == (SERVICES[agent] if way[0] == "compose" else set())
        for image in images.values():
            assert set(image) == {"reference", "digest", "imageId", "contentDigest"}
            assert all(value.partition("sha256:")[2] for value in image.values())


@pytest.mark.parametrize("agent", AGENTS)
def test_backend_concurrency_and_repetition_change_no_row_of_the_journal(
    matrix: dict[tuple[str, Way], FinishedRun], agent: str
) -> None:
    journals = {way: compared_rows(matrix[agent, way]) for way in WAYS}
    first = journals[WAYS[0]]
    assert len(first) >= 12
    assert {way: journal for way, journal in journals.items() if journal != first} == {}


@pytest.mark.parametrize("agent", AGENTS)
def test_backend_concurrency_and_repetition_change_no_outcome_and_no_trajectory(
    matrix: dict[tuple[str, Way], FinishedRun], agent: str
) -> None:
    kept = ("outcome", "class", "reason", "checks", "trajectoryDigest", "stateDigest", "texts")
    found = {
        way: {
            case: {key: attempt.get(key) for key in kept}
            for case, attempt in sorted(matrix[agent, way].attempts.items())
        }
        for way in WAYS
    }
    assert {way: attempts for way, attempts in found.items() if attempts != found[WAYS[0]]} == {}


def test_rows_of_one_attempt_stand_together(matrix: dict[tuple[str, Way], FinishedRun]) -> None:
    for run in matrix.values():
        cases = [case for case, _ in itertools.groupby(row["case"] for row in run.rows)]
        assert len(cases) == len(set(cases))
        for rows in run.journals().values():
            assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))


def compared_rows(run: FinishedRun) -> dict[str, list[dict[str, Any]]]:
    return {case: [{key: row[key] for key in COMPARED} for row in rows] for case, rows in run.journals().items()}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_files_belong_to_whoever_ran_it(as_user: tuple[int, Labctl], agent: str) -> None:
    uid, labctl = as_user
    run = labctl.run("--agent", agent, "--backend", "compose")
    assert run.exit_code == 0, told(run)
    assert run.left == {}
    assert run.read("environment.json")["conditions"]["backend"] == "compose"
    assert {path.stat().st_uid for path in (run.folder, *run.folder.rglob("*"))} == {uid}
    verified = labctl.call("verify", str(run.folder))
    assert verified.returncode == 0, verified.stderr


def test_prompt_v7_fails_exactly_the_approval_and_says_so_everywhere(labctl: Labctl) -> None:
    case, check = "refund-approval-required", "request_approval before issue_refund"
    run = labctl.run("--prompt", "refund-v7", "--backend", "compose")
    assert run.exit_code == 1, told(run)
    row = next(line for line in run.stdout.splitlines() if line.startswith(f"{case} "))
    assert re.fullmatch(rf"{case} +fail +{check.partition(' ')[0]}.* \d+ +[0-9.]+ s", row)
    assert f"\n  tool-order {check}: fail\n" in run.stdout
    failed = [each for each in run.read("results.json")["cases"] if each["outcome"] != "pass"]
    assert [each["caseId"] for each in failed] == [case]
    assert check in [each["name"] for each in failed[0]["attempts"][0]["checks"] if each["outcome"] == "fail"]
    junit = ET.parse(run.folder / "junit.xml").getroot()  # noqa: S314 - our own file
    shown = {each.get("name"): each.find("failure") for each in junit.iter("testcase")}
    failures = {name: ET.tostring(failure, "unicode") for name, failure in shown.items() if failure is not None}
    assert list(failures) == [case]
    assert check in failures[case]
    assert labctl.call("verify", str(run.folder)).returncode == 0
    assert run.left == {}
