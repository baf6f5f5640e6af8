"""Spans through a real collector: none is lost, and one that hangs, is full or dies costs no verdict, hides no loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from driver.otlp_lines import parse_line, spans_of
from scripts.trivial_suite import write_trivial_suite
from tests.compose.engine_calls import containers_of, docker
from tests.compose.launching import FinishedRun, Labctl, LiveRun, labctl_of_checkout, told
from tests.compose.small_suites import waiting_suite

pytestmark = pytest.mark.engine

OBSERVED = ("--backend", "compose", "--profile", "observe")
SPANS_OF_A_TRIVIAL_CASE = 5
"""Case, attempt, model request, and two checks."""


@pytest.fixture
def labctl(images: Path, tmp_path: Path) -> Labctl:
    return labctl_of_checkout(tmp_path)


def span_ids(run: FinishedRun) -> list[str]:
    lines = (run.folder / "traces" / "otlp.jsonl").read_bytes().splitlines()
    return [span.span_id for line in lines for span in spans_of(parse_line(line))]


def telemetry_of(run: FinishedRun) -> dict[str, Any]:
    telemetry: dict[str, Any] = run.read("environment.json")["telemetry"]
    return telemetry


def spans_of_attempts(run: FinishedRun) -> int:
    """How many spans a run of a command agent without tools has to make, from its attempts alone."""
    lines = (run.folder / "traces" / "attempts.jsonl").read_text().splitlines()
    return 1 + sum(2 + len(json.loads(line)["checks"]) for line in lines)


def test_five_thousand_spans_go_through_the_collector_and_none_is_lost(labctl: Labctl, tmp_path: Path) -> None:
    suite = write_trivial_suite(tmp_path / "suite", cases=1000)

    run = labctl.run(str(suite), *OBSERVED)

    assert run.exit_code == 0, told(run)
    ids = span_ids(run)
    assert len(ids) == len(set(ids)) == 1 + 1000 * SPANS_OF_A_TRIVIAL_CASE
    found = telemetry_of(run)
    assert (found["sink"], found["spansMade"], found["spansWritten"], found["spansLost"]) == (
        "otlp-http", len(ids), len(ids), 0,
    )  # fmt: skip
    assert "otel-collector" in run.read("environment.json")["images"]
    assert labctl.call("verify", str(run.folder)).returncode == 0
    assert run.left == {}


def spans_file(live: LiveRun) -> Path | None:
    return next(live.scratch.glob("labctl-scratch-*/otlp.jsonl"), None)


def has_spans(live: LiveRun) -> bool:
    file = spans_file(live)
    return file is not None and b"\n" in file.read_bytes()


def go_on(live: LiveRun) -> None:
    (agent,) = containers_of(live.id, service="agent")
    docker("exec", agent, "touch", f"/tmp/go-on-{live.id}")  # noqa: S108 - in the container


@pytest.mark.parametrize("trouble", ["kill", "pause"])
def test_a_collector_that_dies_or_hangs_half_way_loses_exactly_what_is_said(
    labctl: Labctl, tmp_path: Path, trouble: str
) -> None:
    names = [f"quick-{number}" for number in range(20)] + ["slow"]
    suite = waiting_suite(tmp_path / "suite", *names)

    with labctl.started(str(suite), *OBSERVED, "-c", "2") as live:
        live.until(lambda: len(live.finished_cases()) == 20 and has_spans(live))
        (collector,) = containers_of(live.id, service="otel-collector")
        docker(trouble, collector)
        go_on(live)
        run = live.wait()

    assert run.exit_code == 0, told(run)
    assert {attempt["outcome"] for attempt in run.attempts.values()} == {"pass"}
    found, ids = telemetry_of(run), span_ids(run)
    assert found["spansMade"] == spans_of_attempts(run)
    assert found["spansWritten"] == len(set(ids)) > 0
    assert found["spansLost"] == found["spansMade"] - found["spansWritten"]
    assert found["spansLost"] > 0 or trouble == "pause"  # its end wakes it up, and it may write what waited
    assert (f"{found['spansLost']} of {found['spansMade']} spans were lost: " in run.stderr) == (found["spansLost"] > 0)
    assert run.is_sealed
    assert run.left == {}


def prepared(live: LiveRun, prepare: Callable[[Path], None]) -> None:
    """Do something to the folder of the spans before the collector is up."""

    def empty() -> list[Path]:
        return [folder for folder in live.scratch.glob("labctl-scratch-*") if not any(folder.iterdir())]

    # that of the suite is made, and filled, right before
    live.until(lambda: any(live.scratch.glob("labctl-scratch-*/suite")) and bool(empty()))
    for folder in empty():
        prepare(folder)


def test_a_collector_whose_disk_is_full_loses_all_spans_and_no_verdict(labctl: Labctl, tmp_path: Path) -> None:
    suite = waiting_suite(tmp_path / "suite", "quick-1", "slow")

    def fill(folder: Path) -> None:
        (folder / "otlp.jsonl").symlink_to("/dev/full")

    with labctl.started(str(suite), *OBSERVED) as live:
        prepared(live, fill)
        live.until(lambda: live.finished_cases() == ["quick-1"])
        go_on(live)
        run = live.wait()

    assert run.exit_code == 0, told(run)
    found = telemetry_of(run)
    assert found["spansMade"] == found["spansLost"] == spans_of_attempts(run)
    assert f"{found['spansLost']} of {found['spansMade']} spans were lost" in run.stderr
    assert run.is_sealed
