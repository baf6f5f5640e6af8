"""Many runs started in the same second, on both backends: all sealed, and nothing of one in another."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from contracts import evidence
from contracts.attempt import AttemptRecord
from driver.verify import verify_run
from tests.conftest import Rounds
from tests.fakes.real_runs import LABCTL, ROOT, RUN_S
from tests.fakes.suite_folder import SuiteFolder

pytestmark = pytest.mark.engine

CASES = 3
AGENT = """\
import hashlib, json, os, urllib.request

def asked(path, body=None):
    url, data = os.environ["FIXTURE_URL"] + path, None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))

mark = os.environ["RUN_MARK"]
asked("/marks", {"mark": mark})
seen = asked("/marks")["marks"]
address = hashlib.sha256(os.environ["FIXTURE_URL"].encode()).hexdigest()[:16]
print(json.dumps({"type": "message", "text": f"{mark} saw {','.join(seen)} at {address}"}))
"""
SETTINGS = """\
default_agent = "marks"

[agents.marks]
adapter = "command"
command = ["python3", "{suite}/agents/marks.py"]
"""
ROUTES = [
    {
        "id": "add",
        "method": "POST",
        "path": "/marks",
        "responses": [{"status": 201, "json": {}}],
        "effects": [{"op": "add", "path": "/marks/-", "value": {"$request": "/json/mark"}}],
    },
    {"id": "all", "method": "GET", "path": "/marks", "responses": [{"json": {"marks": {"$state": "/marks"}}}]},
]
_RUN_IDS = re.compile(rb"run-\d{4}-\d\d-\d\d-\d{6}-[0-9a-f]{6}")
_NAMING = (evidence.PLAN, evidence.ENVIRONMENT, evidence.RESULTS, evidence.README, evidence.JUNIT, evidence.COMPLETE)


def marking_suite(root: Path) -> Path:
    """Its agent writes its run's mark into the world, and tells what it sees there and a digest of its address."""
    expect = {"assertions": [{"type": "contains", "value": " saw "}]}
    cases = [{"id": f"case-{number}", "input": "go", "expect": expect} for number in range(CASES)]
    state: dict[str, list[str]] = {"marks": []}
    texts = {"agents/marks.py": AGENT}
    return SuiteFolder(root, SETTINGS, cases=cases, routes=ROUTES, tools=[], state=state, texts=texts).write()


def started(backend: str, mark: str, *, suite: Path, scratch: Path, folder: Path) -> subprocess.Popen[str]:
    words = ("--backend", backend, "-c", "2", "-e", f"RUN_MARK={mark}", "--not-secret", "RUN_MARK")
    return subprocess.Popen(
        [*LABCTL, "run", str(suite), *words, "--evidence", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(processes: list[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    """What each said; none is left, whatever happens."""
    try:
        return [process.communicate(timeout=RUN_S * 4) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=RUN_S)


def assert_of_itself_alone(run: Path, mark: str) -> list[str]:
    """Every file that carries a run id carries this run's; the digests of its agents' addresses."""
    verified = verify_run(run)
    assert verified.plan.run_id == run.name
    for path in run.rglob("*"):
        found = set(_RUN_IDS.findall(path.read_bytes())) if path.is_file() else set()
        assert found <= {run.name.encode()}, path
        assert found or path.relative_to(run).as_posix() not in _NAMING, path
    lines = (run / evidence.ATTEMPTS).read_bytes().splitlines()
    texts = [text for line in lines for text in AttemptRecord.model_validate_json(line).texts]
    assert len(texts) == CASES
    told = [re.fullmatch(r"(\S+) saw (\S+) at ([0-9a-f]{16})", text) for text in texts]
    assert all(one is not None and one[1] == one[2] == mark for one in told), texts
    return [one[3] for one in told if one is not None]


def test_runs_of_both_backends_at_once_are_all_sealed_and_none_is_mixed(
    images: Path, tmp_path: Path, rounds: Rounds
) -> None:
    process_runs, compose_runs = rounds(ci=12, soak=50), rounds(ci=2, soak=8)
    folder, scratch = tmp_path / "evidence", tmp_path / "scratch"
    scratch.mkdir()
    suite = marking_suite(tmp_path / "suite")
    ways = ["compose"] * compose_runs + ["process"] * process_runs
    marks = [f"mark-{number}-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:8]}" for number in range(len(ways))]
    pairs = zip(ways, marks, strict=True)
    processes = [started(way, mark, suite=suite, scratch=scratch, folder=folder) for way, mark in pairs]
    said = ended(processes)
    assert [process.returncode for process in processes] == [0] * len(ways), said
    runs = [Path(stdout.splitlines()[-1]) for stdout, _ in said]
    assert sorted(runs) == sorted(folder.iterdir())
    addresses = [one for run, mark in zip(runs, marks, strict=True) for one in assert_of_itself_alone(run, mark)]
    assert len(set(addresses)) == len(ways) * CASES
    assert list(scratch.iterdir()) == []
    backends = [json.loads((run / evidence.PLAN).read_bytes())["conditions"]["backend"] for run in runs]
    assert backends == ways
