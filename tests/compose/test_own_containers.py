"""A container for each attempt, seen from inside and on the engine: fresh, closed, bounded, and gone at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compose.engine_calls import containers_of, docker
from tests.compose.launching import MARK, FinishedRun, Labctl, labctl_of_checkout, told
from tests.compose.small_suites import small_suite, waiting_suite

pytestmark = pytest.mark.engine

ANY_ANSWER = {"assertions": [{"type": "contains", "value": "cwd"}]}
LAB_VARIABLES = {
    *("FIXTURE_URL", "MODEL_URL", "LAB_CASE_ID", "LAB_ATTEMPT", "LAB_NOW", "EVAL_SEED", "TZ", "LANG"),
    *("PATH", "HOME", "TMPDIR"),
}
CONTAINER = ("--backend", "compose", "--isolation", "container")


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("labctl"))


@pytest.fixture(scope="module")
def looked(labctl: Labctl, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Five cases, four side by side: each looks around, and leaves something."""
    cases = [{"id": f"looks-{number}", "input": "neighbours", "expect": ANY_ANSWER} for number in range(5)]
    suite = small_suite(tmp_path_factory.mktemp("suite"), "looking", cases=cases)
    text = (suite / "suite.toml").read_text()
    (suite / "suite.toml").write_text(text.replace("[limits]", "[limits]\nmemory_mb = 256\npids = 64\ncpus = 1.5"))
    env = {"OPENAI_API_KEY": "sk-inside-0123456789", "GITHUB_TOKEN": "ghp-never-0123456789", "AWS_PROFILE": "never-1"}
    flags = ("--concurrency", "4", "--capture", "payloads", "-e", "NAMED=named-value-0123456789")
    done = labctl.run(str(suite), *CONTAINER, *flags, env=env)
    assert done.exit_code == 0, told(done)
    return done


def said_by(run: FinishedRun, case: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(run.attempts[case]["texts"][0])
    return said


@pytest.fixture(scope="module")
def reports(looked: FinishedRun) -> list[dict[str, Any]]:
    return [said_by(looked, case) for case in looked.attempts]


def test_the_environment_has_the_labs_variables_the_provider_keys_and_what_e_names(
    reports: list[dict[str, Any]],
) -> None:
    for report in reports:
        assert set(report["env"]) == LAB_VARIABLES | {"OPENAI_API_KEY", "NAMED", MARK}
        assert (report["env"]["HOME"], report["env"]["TMPDIR"]) == ("/work", "/work")


def test_an_attempt_finds_no_file_and_no_process_of_another(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        assert report["files"] == {}
        assert len(report["processes"]) == 3, report["processes"]  # the host, its warden, the agent
        assert report["cwd"] == "/working_dir"


def test_the_limits_of_the_suite_hold_in_the_container_and_are_recorded(
    looked: FinishedRun, reports: list[dict[str, Any]]
) -> None:
    for report in reports:
        values = set(report["limits"].values())
        assert str(256 * 2**20) in values
        assert "64" in values
    limits = looked.read("environment.json")["conditions"]["limits"]
    assert (limits["memory_mb"], limits["pids"], limits["cpus"]) == (256, 64, 1.5)


def test_a_neighbour_that_does_not_know_the_token_is_not_let_in(reports: list[dict[str, Any]]) -> None:
    answers = [answer for report in reports for answer in report["neighbours"]]
    assert [answer for answer in answers if answer.endswith("hello")] == []


def test_the_isolation_is_a_recorded_condition_and_needs_no_warning(looked: FinishedRun) -> None:
    assert looked.read("environment.json")["conditions"]["isolation"] == "container"
    assert "isolation shared" not in looked.stderr
    assert looked.left == {}


def test_no_value_of_a_variable_is_in_the_evidence(looked: FinishedRun) -> None:
    values = [b"sk-inside-0123456789", b"named-value-0123456789"]
    files = [path.read_bytes() for path in looked.folder.rglob("*") if path.is_file()]
    assert [value for value in values if any(value in content for content in files)] == []


def test_another_client_of_the_same_engine_starts_them(labctl: Labctl, tmp_path: Path) -> None:
    program = tmp_path / "other-client"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/calls\nexec docker "$@"\n')
    program.chmod(0o755)
    suite = waiting_suite(tmp_path / "suite", "quick-1", "quick-2")

    done = labctl.run(str(suite), *CONTAINER, "--container-runtime", str(program), "--concurrency", "1")

    assert (done.exit_code, done.left) == (0, {}), told(done)
    calls = (tmp_path / "calls").read_text().split()
    assert calls.count("run") == 2
    assert "rm" not in calls[: calls.index("run") + 2]


def test_what_a_killed_driver_leaves_is_reaped(labctl: Labctl, tmp_path: Path) -> None:
    suite = waiting_suite(tmp_path / "suite", *(f"slow-{number}" for number in range(4)))
    with labctl.started(str(suite), *CONTAINER, "--concurrency", "2") as run:
        run.until(lambda: len(run.agents_under_way()) == 2)
        run.process.kill()
        run.wait()
        cleaned = labctl.call("clean")
        assert cleaned.returncode == 0, cleaned.stderr
        left = run.left()
    assert set(left) <= {"files"}, left


def test_the_engine_knows_no_value_and_nothing_is_left_after_an_interrupt(labctl: Labctl, tmp_path: Path) -> None:
    suite = waiting_suite(tmp_path / "suite", *(f"slow-{number}" for number in range(6)))
    with labctl.started(str(suite), *CONTAINER, "--concurrency", "3", env={"OPENAI_API_KEY": "sk-inspect-0123"}) as run:
        run.until(lambda: len(run.agents_under_way()) == 3)
        ids = [each for each in containers_of(run.id) if "labctl.attempt" in docker("inspect", each)]
        told_by_engine = docker("inspect", *ids)
        assert 3 <= len(ids) <= 4
        run.process.terminate()
        done = run.wait()
    assert "sk-inspect-0123" not in told_by_engine
    assert "FIXTURE_URL" not in told_by_engine
    for inspected in json.loads(told_by_engine):
        host = inspected["HostConfig"]
        assert (host["ReadonlyRootfs"], host["CapDrop"], host["SecurityOpt"]) == (True, ["ALL"], ["no-new-privileges"])
        assert list(inspected["NetworkSettings"]["Networks"]) == [
            f"{inspected['Name'][1:].partition('-attempt-')[0]}_tools"
        ]
    assert (done.exit_code, done.left) == (143, {})
