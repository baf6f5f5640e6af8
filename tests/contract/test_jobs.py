"""`labctl jobs` and `labctl run --job`: a job is its profiles, by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.suite.loading import load_suite
from contracts.suite.settings import Job
from driver.jobs import profiles_of

SUITE = Path(__file__).resolve().parents[2] / "fixtures"


def labctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_the_matrix_has_every_job_of_the_suite_with_its_profiles() -> None:
    listed = labctl("jobs", str(SUITE), "--json")
    assert json.loads(listed.stdout) == {
        "include": [
            {"job": "clean", "profiles": []},
            {"job": "fault", "profiles": ["fault"]},
            {"job": "observe", "profiles": ["observe"]},
            {"job": "fault-observe", "profiles": ["fault", "observe"]},
        ]
    }
    assert listed.stdout.count("\n") == 1, "a CI output variable is one line"


def test_people_read_a_line_for_each_job() -> None:
    assert labctl("jobs", str(SUITE)).stdout.splitlines() == [
        "clean          no profile",
        "fault          fault",
        "observe        observe",
        "fault-observe  fault, observe",
    ]


def test_a_suite_without_jobs_says_so_and_its_matrix_is_empty(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text('{"cases": [{"id": "a", "input": "x", "expect": {"neverTools": ["t"]}}]}')
    listed = labctl("jobs", str(tmp_path))
    assert (listed.returncode, listed.stdout) == (0, "")
    assert listed.stderr == f"labctl: {tmp_path} declares no [jobs.NAME]\n"
    assert labctl("jobs", str(tmp_path), "--json").stdout == '{"include": []}\n'


def test_a_job_brings_its_profiles() -> None:
    suite = load_suite(SUITE)
    suite.settings.jobs["nightly"] = Job(profiles=("local-model",))
    assert profiles_of(suite, job="nightly", profiles=()) == ("local-model",)
    assert profiles_of(suite, job="clean", profiles=()) == ()
    assert profiles_of(suite, job=None, profiles=("local-model",)) == ("local-model",)


def test_a_job_and_a_profile_are_refused_together() -> None:
    with pytest.raises(LabError) as caught:
        profiles_of(load_suite(SUITE), job="clean", profiles=("fault",))
    assert caught.value.code is ErrorCode.BAD_USAGE
    assert [found.place for found in caught.value.found] == ["--job", "--profile"]


def test_an_unknown_job_is_refused_with_the_known_ones_before_anything_starts(tmp_path: Path) -> None:
    ran = labctl("run", str(SUITE), "--backend", "process", "--job", "claen", "--evidence", str(tmp_path / "e"))
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        'labctl: unknown-job: unknown job "claen"; did you mean "clean"?',
        'found: --job: "claen"',
        "expected: one of: clean, fault, observe, fault-observe",
        "next: labctl jobs",
    ], ran.stderr
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("chosen", [("--job", "fault"), ("--profile", "fault")], ids="=".join)
def test_the_profiles_of_a_job_ask_for_what_they_ask_for_by_name(tmp_path: Path, chosen: tuple[str, str]) -> None:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()"]
    argv += ["run", str(SUITE), "--backend", "process", *chosen, "--evidence", str(tmp_path / "e")]
    env = {"PATH": "/usr/bin", "HOME": str(tmp_path), "PYTHONPATH": str(SUITE.parent)}  # without any toxiproxy
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert ran.returncode == 4, ran.stderr
    assert ran.stderr.startswith("labctl: fault-proxy-missing: ")
