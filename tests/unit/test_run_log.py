"""run.log holds no secret, also where a service says it in several lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.evidence import RUN_LOG
from driver.run_log import RunLog
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

LINES = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "q83vEjRWeJq83vEjRWeJq83vEjRWeA=="]
MARK = "[redacted:shape:private-key]"


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    return RunLog(RunDirectory.create(tmp_path, run_id="run-1"), Redactor({"TOKEN": "of-the-test-0123456789"}))


def said(log: RunLog) -> list[str]:
    return (log.run.path / RUN_LOG).read_text().splitlines()


def test_a_private_key_in_lines_is_gone_until_its_end_and_nothing_after_it(log: RunLog) -> None:
    for line in ["-----BEGIN RSA PRIVATE KEY-----", *LINES, "-----END RSA PRIVATE KEY-----", LINES[0]]:
        log.line("agent", line)
    assert said(log) == [f"agent | {MARK}"] * 4 + [f"agent | {LINES[0]}"]


def test_a_key_without_an_end_ends_with_the_first_line_that_is_none_of_it(log: RunLog) -> None:
    for line in ["-----BEGIN PRIVATE KEY-----", LINES[0], "started on port 80.", LINES[1]]:
        log.line("agent", line)
    assert said(log) == [f"agent | {MARK}", f"agent | {MARK}", "agent | started on port 80.", f"agent | {LINES[1]}"]


def test_the_lines_of_another_service_are_its_own(log: RunLog) -> None:
    log.line("agent", "-----BEGIN PRIVATE KEY-----")
    log.line("api", LINES[0])
    log.line("agent", LINES[0])
    assert said(log) == [f"agent | {MARK}", f"api | {LINES[0]}", f"agent | {MARK}"]


def test_what_is_taken_out_is_counted_for_the_log(log: RunLog) -> None:
    log.line("agent", "of-the-test-0123456789 and of-the-test-")
    assert said(log) == ["agent | [redacted:TOKEN] and [redacted:TOKEN]"]
    assert log.redactor.counts.by_file() == {RUN_LOG: {"TOKEN": 2}}
