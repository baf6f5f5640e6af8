"""Two attempts of a real run side by side in one agent container: what one can learn of the other and what not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compose.launching import FinishedRun, labctl_of_checkout, told
from tests.compose.small_suites import prying_suite

pytestmark = pytest.mark.engine

SEEN = [("GET", "/orders/a-1", 200)] * 2
"""The victim's own requests."""


@pytest.fixture(scope="module")
def run(images: Path, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    labctl = labctl_of_checkout(tmp_path_factory.mktemp("isolation"))
    suite = prying_suite(tmp_path_factory.mktemp("suite"))
    done = labctl.run(str(suite), "--backend", "compose", "--concurrency", "2", "--capture", "payloads")
    assert done.exit_code == 0, told(done)
    return done


def said_by(run: FinishedRun, case: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(run.attempts[case]["texts"][0])
    return said


def test_by_guess_path_header_and_port_one_attempt_gets_nothing_of_another(run: FinishedRun) -> None:
    report = said_by(run, "prying")
    assert report["waited"] is True
    assert report["telling"] == []
    refusals = {f"{way} {status}" for way in ("by_guess", "by_path", "by_header") for status in (404, 409)}
    assert set(report["statuses"]) <= refusals | {"by_header 400"}  # a second host
    assert {way.partition(" ")[0] for way in report["statuses"]} == {"by_guess", "by_path", "by_header"}
    assert report["control"] == [0]


def test_what_it_tried_is_in_its_own_journal_only(run: FinishedRun) -> None:
    assert said_by(run, "victim")["before"] == said_by(run, "victim")["after"]
    others = [
        row for row in run.journals()["victim"] if row["requestDigest"] == run.journals()["victim"][0]["requestDigest"]
    ]
    assert [(row["method"], row["path"], row["status"]) for row in others] == SEEN
    assert run.verdict("victim") == ("pass", None)


def test_shared_isolation_does_not_hide_the_address_of_another_attempt_in_proc(run: FinishedRun) -> None:
    """Measured, not wished for: processes of one user in one container read each other's environment."""
    found = said_by(run, "prying")["proc"]
    assert (found["urls"], found["answered"]) == (1, [200])
    assert {"cmdline", "cwd"} <= set(found["readable"])
    assert len(run.journals()["victim"]) == len(SEEN) + 1
    assert "isolation shared" in run.stderr


def test_no_secret_of_either_attempt_is_in_the_evidence_or_in_what_the_run_says(run: FinishedRun) -> None:
    secrets = [said_by(run, case)["backwards"][::-1] for case in ("victim", "prying")]
    assert len({secret for secret in secrets if len(secret) == 32}) == 2
    files = [path.read_bytes() for path in run.folder.rglob("*") if path.is_file()]
    assert run.is_sealed
    assert [secret for secret in secrets if any(secret.encode() in content for content in files)] == []
    assert [secret for secret in secrets if secret in run.stdout + run.stderr] == []
