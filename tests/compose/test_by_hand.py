"""`docker compose run --rm eval-runner` without labctl, as root and as an ordinary user."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from driver.otlp_lines import parse_line, spans_of
from tests.compose.checkouts import USERS, User, user
from tests.compose.engine_calls import docker

pytestmark = pytest.mark.engine

ASK = """
import sys, urllib.request
order, case = sys.argv[1:]
ask = urllib.request.Request("http://fixture-api:8080/orders/" + order, headers={"x-eval-case": case})
with urllib.request.urlopen(ask, timeout=10) as answer:
    print(answer.status, answer.read().decode())
"""


@dataclass(frozen=True)
class ByHand:
    """One user's project after a run by hand; its fixture API still runs, as Compose leaves it."""

    user: User
    setup: dict[str, str]
    done: subprocess.CompletedProcess[str]
    run_directory: Path


@dataclass(frozen=True)
class ProfiledRun:
    """One more run by hand; its profile's services are gone again, for the runner takes what it sees by its name."""

    done: subprocess.CompletedProcess[str]
    made: tuple[Path, ...]
    """Run directories."""


def run_directories(somebody: User) -> set[Path]:
    return set((somebody.checkout / "evidence").iterdir())


def run_with(somebody: User, profile: str, service: str, *, files: tuple[str, ...] = ()) -> ProfiledRun:
    before = run_directories(somebody)
    done = compose(somebody, *files, "--profile", profile, "run", "--rm", "-T", "eval-runner")
    for end in ("stop", "rm"):  # a collector that is stopped first writes what it holds
        flags = ("--force",) if end == "rm" else ()
        ended = compose(somebody, "--profile", profile, end, *flags, service)
        assert ended.returncode == 0, ended.stderr
    return ProfiledRun(done, (*(run_directories(somebody) - before),))


def compose(somebody: User, *arguments: str) -> subprocess.CompletedProcess[str]:
    return somebody.call("docker", "compose", "--progress", "plain", *arguments)


@contextlib.contextmanager
def project_of(somebody: User) -> Iterator[dict[str, str]]:
    """Variables of `.env`; afterwards the project is gone."""
    lines = (somebody.checkout / ".env").read_text().splitlines()
    setup = dict(line.split("=", 1) for line in lines if "=" in line)
    try:
        yield setup
    finally:
        down = compose(somebody, "--profile", "*", "down", "--volumes", "--remove-orphans")
        assert down.returncode == 0, down.stderr


@pytest.fixture(scope="module", params=USERS)
def by_hand(request: pytest.FixtureRequest, images: Path) -> Iterator[ByHand]:
    with user(request.param) as somebody, project_of(somebody) as setup:
        done = compose(somebody, "run", "--rm", "-T", "eval-runner")
        (made,) = run_directories(somebody)
        yield ByHand(somebody, setup, done, made)


def test_it_prints_the_summary_and_exits_as_labctl_would(by_hand: ByHand) -> None:
    assert by_hand.done.returncode == 0, by_hand.done.stderr
    lines = by_hand.done.stdout.splitlines()
    assert any(line.startswith("refund-approval-required") and " pass " in line for line in lines)
    count = len(json.loads((by_hand.user.checkout / "fixtures" / "cases.json").read_text())["cases"])
    assert any(line.startswith(f"{count} planned: {count} passed, 0 failed, 0 unknown") for line in lines)
    assert lines[-1] == f"evidence/{by_hand.run_directory.name}"


def test_it_leaves_an_unsealed_run_directory_that_labctl_never_grades(by_hand: ByHand) -> None:
    folder = by_hand.run_directory
    assert {path.name for path in folder.iterdir()} >= {"plan.json", "results.json", "junit.xml", "journal.jsonl"}
    assert not (folder / "COMPLETE").exists()
    verified = by_hand.user.labctl().call("verify", str(folder))
    assert verified.returncode == 5
    assert verified.stderr.startswith("labctl: unsealed: ")
    assert folder.name in verified.stderr


def test_its_files_belong_to_the_ids_that_make_setup_chose_and_never_to_root(by_hand: ByHand) -> None:
    uid = int(by_hand.setup["LAB_UID"])
    assert uid != 0
    assert by_hand.user.uid in {0, uid}
    assert {path.stat().st_uid for path in by_hand.run_directory.rglob("*")} == {uid}


def test_a_container_on_the_tools_network_asks_for_the_world_of_a_case_by_header(by_hand: ByHand) -> None:
    def order(name: str, *, case: str) -> dict[str, Any]:
        network = f"{by_hand.setup['COMPOSE_PROJECT_NAME']}_tools"
        program = ("--entrypoint", "python3", by_hand.setup["AGENT_IMAGE"], "-c", ASK, name, case)
        status, _, body = docker("run", "--rm", "--network", network, *program).partition(" ")
        assert status == "200"
        found: dict[str, Any] = json.loads(body)
        return found

    orders = json.loads((by_hand.user.checkout / "fixtures" / "state.json").read_text())["orders"]
    assert order("synthetic-42", case="refund-approval-required") == orders["synthetic-42"]
    # the case's own state: the header chooses a world, not only a door
    refunded = orders["synthetic-11"] | {"status": "refunded"}
    assert refunded != orders["synthetic-11"]
    assert order("synthetic-11", case="already-refunded") == refunded


def test_with_the_observe_profile_the_collector_appends_every_span_to_a_file_of_the_checkout(by_hand: ByHand) -> None:
    run = run_with(by_hand.user, "observe", "otel-collector")
    done, (folder,) = run.done, run.made
    assert done.returncode == 0, done.stderr
    (told,) = re.findall(r"(\d+) spans went to otel-collector; it appends to (\S+) of the checkout", done.stderr)
    made, name = int(told[0]), told[1]
    file = by_hand.user.checkout / name
    spans = [span for line in file.read_bytes().splitlines() for span in spans_of(parse_line(line))]
    assert len({span.span_id for span in spans}) == made > 0
    assert file.stat().st_uid == int(by_hand.setup["LAB_UID"])
    assert json.loads((folder / "plan.json").read_text())["conditions"]["profiles"] == ["observe"]


def test_with_the_fault_profile_faults_are_applied_and_their_witness_is_in_the_summary(by_hand: ByHand) -> None:
    run = run_with(by_hand.user, "fault", "fault-proxy")
    done, (made,) = run.done, run.made
    # refund-v6, the default prompt, does not bear a policy that gives no answer
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert "FAULTS" in lines[0] + lines[1]
    (row,) = [line for line in lines if line.startswith("policy-timeout-recovery ")]
    assert " fail " in row
    assert "timeout met" in " ".join(row.split())
    assert json.loads((made / "plan.json").read_text())["conditions"]["profiles"] == ["fault"]
    attempts = [json.loads(line) for line in (made / "traces" / "attempts.jsonl").read_text().splitlines()]
    planned = [fault for attempt in attempts for fault in attempt.get("faults", ())]
    assert {fault["kind"] for fault in planned} == {"network", "response"}
    assert all(fault["met"] for fault in planned)


def test_with_an_unhealthy_proxy_the_runner_stops_instead_of_running_clean(by_hand: ByHand) -> None:
    deaf = by_hand.user.checkout / "deaf.yaml"
    deaf.write_text('services: {fault-proxy: {command: ["-host=127.0.0.1", "-proxy-metrics"]}}\n')
    run = run_with(by_hand.user, "fault", "fault-proxy", files=("-f", "compose.yaml", "-f", str(deaf)))
    done = run.done
    assert done.returncode == 4, done.stdout + done.stderr
    assert "labctl: fault-not-applied: " in done.stderr
    assert done.stdout.strip() == ""
    assert run.made == ()
