"""The real fixture API and the real runner as processes, for tests that look at what comes out of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contracts.attempt import AttemptRecord
from contracts.lines import RunnerAttempt, RunnerLine, runner_lines
from contracts.order import HostOverStdio, RunnerOrder
from contracts.plan import Plan
from contracts.planning import conditions_of, effective_limits, planned_cases, resolve_agent, select_cases
from contracts.record import Record
from contracts.suite.loading import load_suite

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "fixtures"
PATIENCE_S = 60.0
"""For anything that must happen on a busy machine."""


def plan_of(
    suite_root: Path,
    *,
    agent: str | None = None,
    prompt: str | None = None,
    cases: Iterable[str] = (),
    concurrency: int = 4,
    repeats: int = 1,
) -> Plan:
    """A plan as the driver makes it."""
    suite = load_suite(suite_root)
    chosen = resolve_agent(suite, name=agent, model=None, prompt=prompt)
    limits = effective_limits(suite.settings.limits, timeout=None)
    return Plan(
        run_id="run-test",
        labctl="0",
        command=("labctl", "run"),
        suite=str(suite_root),
        agent=chosen,
        conditions=conditions_of(suite, chosen, backend="process", limits=limits),
        capture="metadata",
        concurrency=concurrency,
        planned_at="2026-09-01T12:00:00Z",
        cases=planned_cases(suite, select_cases(suite, case_ids=tuple(cases)), repeats=repeats),
    )


@dataclass
class FixtureApi:
    """A running fixture API."""

    process: subprocess.Popen[bytes]
    fixture_url: str
    control_url: str


@contextmanager
def fixture_api(suite_root: Path, *, select: str = "prefix") -> Iterator[FixtureApi]:
    """Within: it serves the suite. After: it is gone."""
    env = {
        **os.environ,
        "DATASET_PATH": str(suite_root),
        "FIXTURE_HOST": "127.0.0.1",
        "FIXTURE_PORT": "0",
        "CONTROL_PORT": "0",
        "FIXTURE_SELECT": select,
    }
    pipe = subprocess.PIPE
    argv = [sys.executable, "-m", "fixture_api", "stdin"]
    with subprocess.Popen(argv, cwd=ROOT, env=env, stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdin
            assert process.stdout
            process.stdin.write(b"{}\n")
            process.stdin.flush()
            ports = json.loads(process.stdout.readline())
            yield FixtureApi(
                process,
                fixture_url=f"http://127.0.0.1:{ports['dataPort']}",
                control_url=f"http://127.0.0.1:{ports['controlPort']}",
            )
        finally:
            process.kill()


def order_of(plan: Plan, api: FixtureApi, *, work: Path, agent_suite: Path | None = None) -> RunnerOrder:
    """The order that the driver would give on the process backend."""
    host = (sys.executable, str(ROOT / "agent_host" / "__main__.py"), "--stdio", "--work", str(work))
    return RunnerOrder(
        plan=plan,
        suite=plan.suite,
        fixture_url=api.fixture_url,
        control_url=api.control_url,
        agent_host=HostOverStdio(argv=host) if plan.agent.needs_host else None,
        agent_suite=str(agent_suite or plan.suite),
        startup_seconds=PATIENCE_S,
    )


@dataclass
class RunningRunner:
    """A runner that was given an order."""

    process: subprocess.Popen[bytes]
    lines: list[RunnerLine] = field(default_factory=list)

    def read(self) -> Iterator[RunnerLine]:
        """Its lines as they come; each is kept too."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(runner_lines.validate_json(line))
            yield self.lines[-1]

    def tell(self, record: Record) -> None:
        """Say something, as its driver does."""
        assert self.process.stdin
        self.process.stdin.write(record.to_line().encode() + b"\n")
        self.process.stdin.flush()

    def leave(self) -> None:
        """What a driver that dies does."""
        assert self.process.stdin
        self.process.stdin.close()

    @property
    def attempts(self) -> list[RunnerAttempt]:
        """The finished ones so far."""
        return [line for line in self.lines if isinstance(line, RunnerAttempt)]


@contextmanager
def runner(order: RunnerOrder | str) -> Iterator[RunningRunner]:
    """Within: it runs. After: it is gone."""
    line = order if isinstance(order, str) else order.to_line()
    argv = [sys.executable, "-m", "runner", "attempts"]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdin
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            yield RunningRunner(process)
        finally:
            process.kill()


@dataclass
class Ran:
    """A runner that ended by itself."""

    lines: list[RunnerLine]
    exit_code: int

    @property
    def records(self) -> dict[str, AttemptRecord]:
        """The last attempt of each case."""
        return {line.record.case_id: line.record for line in self.lines if isinstance(line, RunnerAttempt)}

    @property
    def journals(self) -> dict[str, list[dict[str, Any]]]:
        """The journal of each case."""
        return {
            line.record.case_id: [row.to_json() for row in line.journal]
            for line in self.lines
            if isinstance(line, RunnerAttempt)
        }


def run_order(order: RunnerOrder | str) -> Ran:
    """Run an order to its end."""
    with runner(order) as running:
        lines = list(running.read())
        return Ran(lines=lines, exit_code=running.process.wait(PATIENCE_S))


def run_suite(suite_root: Path, *, work: Path, select: str = "prefix", **plan: Any) -> Ran:
    """Serve a suite and run it once."""
    with fixture_api(suite_root, select=select) as api:
        return run_order(order_of(plan_of(suite_root, **plan), api, work=work))


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid: int) -> None:
    """Wait for the end of a process; fails when it stays."""
    until = time.monotonic() + PATIENCE_S
    while is_alive(pid):
        assert time.monotonic() < until, f"process {pid} is still there"
        time.sleep(0.02)
