"""Signals in the middle of a Compose run, and `labctl clean` beside a run that lives."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.compose.engine_calls import RUN_LABEL, containers_of, docker, left_on_engine, processes_with
from tests.compose.launching import FinishedRun, Labctl, LiveRun, labctl_of_checkout, told
from tests.compose.small_suites import waiting_suite

pytestmark = pytest.mark.engine

COMPOSE = ("--backend", "compose", "--concurrency", "1")


@pytest.fixture
def labctl(images: Path, tmp_path: Path) -> Labctl:
    return labctl_of_checkout(tmp_path)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return str(waiting_suite(tmp_path / "suite", "first", "slow", "later"))


def until_said(live: LiveRun, text: str) -> None:
    """On stderr, line by line."""
    assert live.process.stderr is not None
    while text not in live.process.stderr.readline():
        assert live.process.poll() is None, "it ended without a word"


def is_in_the_middle(run: LiveRun) -> bool:
    return run.finished_cases() == ["first"] and run.agents_under_way() == ["slow"]


def assert_says_how_far_it_got(run: FinishedRun, word: str) -> None:
    """`first` of three had finished and `slow` was under way, in both files."""
    abort = run.read("abort.json")
    assert (abort["reason"], abort["phase"]) == (word, "attempts")
    assert (abort["plannedRepeats"], abort["finishedRepeats"]) == (3, 1)
    assert abort["underWay"] == [{"caseId": "slow", "attempt": 1, "waitsFor": "agent"}]
    assert "unsealed" in (run.folder / "README.md").read_text()
    assert not list(run.folder.rglob(".labctl-part-*"))


@pytest.mark.parametrize(
    ("number", "exit_code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interrupted_run_takes_everything_down_and_says_how_far_it_got(
    labctl: Labctl, suite: str, number: signal.Signals, exit_code: int, word: str
) -> None:
    with labctl.started(suite, *COMPOSE) as live:
        live.until(lambda: is_in_the_middle(live))
        live.process.send_signal(number)
        run = live.wait()
    assert run.exit_code == exit_code, told(run)
    assert run.left == {}
    assert run.stdout == ""
    assert run.stderr.count(f"labctl: {word}: ") == 1
    assert f"labctl: {word}: ending what it started, within 30 s; a second signal ends it at once\n" in run.stderr
    assert run.stderr.endswith(f"kept: {run.folder} (unsealed: it is never graded)\nnext: labctl resume {run.folder}\n")
    assert not run.is_sealed
    assert_says_how_far_it_got(run, word)
    assert list(run.attempts) == ["first"]
    refused = labctl.call("verify", str(run.folder))
    assert refused.returncode == 5
    assert refused.stderr.startswith("labctl: unsealed: ")


def test_containers_that_are_starting_when_a_run_is_interrupted_go_with_it(labctl: Labctl, tmp_path: Path) -> None:
    suite = waiting_suite(tmp_path / "many", *(f"case-{number}" for number in range(8)))
    flags = ("--backend", "compose", "--isolation", "container", "--concurrency", "6")
    with labctl.started(str(suite), *flags) as live:
        of_attempts = ("--filter", f"label={RUN_LABEL}={live.id}", "--filter", "label=labctl.attempt")
        live.until(lambda: docker("ps", "--all", "--quiet", *of_attempts) != "")
        live.process.send_signal(signal.SIGINT)
        run = live.wait()
    assert run.exit_code == 130, told(run)
    assert run.left == {}


@pytest.mark.parametrize("isolation", ["shared", "container"])
def test_a_second_signal_ends_at_once_and_leaves_nothing(labctl: Labctl, suite: str, isolation: str) -> None:
    with labctl.started(suite, *COMPOSE, "--isolation", isolation) as live:
        live.until(lambda: is_in_the_middle(live))
        live.process.send_signal(signal.SIGINT)
        until_said(live, "a second signal")
        live.process.send_signal(signal.SIGTERM)
        live.process.send_signal(signal.SIGINT)
        run = live.wait()
    assert run.exit_code == 130, told(run)
    assert run.left == {}
    assert run.stdout == ""
    assert run.stderr.endswith(f"next: labctl resume {run.folder}\n")
    assert not run.is_sealed
    assert_says_how_far_it_got(run, "interrupted")


def test_a_second_signal_takes_kept_containers_too_unless_the_run_had_left_them(labctl: Labctl, suite: str) -> None:
    flags = (*COMPOSE, "--isolation", "container", "--keep-containers")
    with labctl.started(suite, *flags) as live:
        live.until(lambda: is_in_the_middle(live))
        live.process.send_signal(signal.SIGINT)
        until_said(live, "a second signal")
        live.process.send_signal(signal.SIGINT)
        run = live.wait()
    assert run.exit_code == 130, told(run)
    assert run.left == {}


def test_while_the_stack_comes_up_a_second_signal_leaves_neither_run_nor_container(labctl: Labctl, suite: str) -> None:
    with labctl.started(suite, *COMPOSE) as live:
        live.until(lambda: left_on_engine(live.id) != {})
        live.process.send_signal(signal.SIGTERM)
        until_said(live, "a second signal")
        live.process.send_signal(signal.SIGTERM)
        run = live.wait()
    assert run.exit_code == 143, told(run)
    assert run.left == {}
    assert not run.folder.exists() or run.read("abort.json")["reason"] == "terminated"


def test_clean_reaps_a_killed_run_and_leaves_a_live_one_alone(labctl: Labctl, suite: str) -> None:
    with labctl.started(suite, *COMPOSE) as victim, labctl.started(suite, *COMPOSE) as live:
        victim.until(lambda: is_in_the_middle(victim))
        live.until(lambda: is_in_the_middle(live))
        victim.process.kill()
        victim.process.wait(timeout=30)
        assert set(left_on_engine(victim.id)) >= {"container", "network"}
        owned_by_live = left_on_engine(live.id)

        cleaned = labctl.call("clean")
        assert cleaned.returncode == 0, cleaned.stderr
        assert victim.id in cleaned.stdout
        assert f"left alone: {live.id} is live" in cleaned.stderr
        assert live.id not in cleaned.stdout
        assert left_on_engine(victim.id) == {}
        assert left_on_engine(live.id) == owned_by_live

        (agent,) = containers_of(live.id, service="agent")
        docker("exec", agent, "touch", f"/tmp/go-on-{live.id}")  # noqa: S108 - in the container
        run = live.wait()
        assert processes_with(victim.id) == {}
    assert run.exit_code == 0, told(run)
    assert run.is_sealed
    assert run.left == {}
    assert not (victim.folder / "COMPLETE").exists()
    assert labctl.call("verify", str(victim.folder)).returncode == 5
