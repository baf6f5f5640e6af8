"""`python -m runner hand`: the suite with its default agent, for a person who typed `docker compose run`."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from contracts.fault_plan import refuse_faults_out_of_reach, with_fault_plan
from contracts.lines import RunnerAttempt
from contracts.order import FAULT_PROXY, FAULT_PROXY_ON_COMPOSE, HostOverTcp, RunnerOrder
from contracts.own_containers import no_container, own_container_needs
from contracts.plan import FAULT_PROFILE, Plan
from contracts.planning import conditions_of, planned_cases, resolve_agent, select_cases
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from contracts.telemetry import COLLECTOR, COLLECTOR_SINK, OBSERVE_PROFILE, SpanCount
from ledger.capture import capture_attempt
from ledger.grading import grade_run
from ledger.redaction import Redactor
from ledger.results import exit_of
from ledger.run_directory import RunDirectory
from ledger.run_id import RANDOM_BYTES, new_run_id
from ledger.screen_text import PLAIN_SCREEN
from ledger.session_files import write_session_files
from ledger.summary import summary_text
from runner import VERSION, clock
from runner.execution import Execution
from runner.leaving import Watch
from runner.randomness import random_bytes

TRACES = ".build/traces/otlp.jsonl"
"""Where compose.yaml has the collector write on the host."""
_SIGN_OF_PROFILES = {FAULT_PROFILE: FAULT_PROXY, OBSERVE_PROFILE: COLLECTOR}
AGENT_PORT = 7070
STARTUP_S = 30.0

MOUNTED_EVIDENCE = Path("/evidence")
"""Where compose.yaml mounts the evidence folder of the checkout."""


def run_by_hand(argv: list[str]) -> int:
    """Run, write an unsealed run directory, print the summary; the exit status of `labctl run`."""
    options = _options(argv)
    try:
        return _run(options, argv, profiles=profiles_that_are_on(socket.gethostbyname))
    except LabError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner hand", description=__doc__)
    parser.add_argument("--suite", default="/suite", help="directory of the suite")
    parser.add_argument("--agent-suite", default="/agent-suite", help="what {suite} means to a command agent")
    parser.add_argument("--evidence", type=Path, default=MOUNTED_EVIDENCE, help="where the run directory is made")
    parser.add_argument("--fixture-url", default="http://fixture-api:8080", help="data port of the fixture API")
    parser.add_argument("--control-url", default="http://fixture-control:8081", help="control port of the fixture API")
    parser.add_argument("--agent-host", default="agent", help="where agent_host listens")
    return parser.parse_args(argv)


def profiles_that_are_on(resolve: Callable[[str], object]) -> tuple[str, ...]:
    """The profiles of the stack: Compose does not tell them, but a service of one has a name while it is there."""
    return tuple(profile for profile, service in _SIGN_OF_PROFILES.items() if _is_up(service, resolve))


def _is_up(name: str, resolve: Callable[[str], object]) -> bool:
    try:
        resolve(name)
    except OSError:
        return False
    return True


def _run(options: argparse.Namespace, argv: list[str], *, profiles: tuple[str, ...]) -> int:
    suite = load_suite(Path(options.suite))
    command = ("python", "-m", "runner", "hand", *argv)
    plan = plan_by_hand(suite, command=command, profiles=profiles)
    order = RunnerOrder(
        plan=plan,
        suite=options.suite,
        fixture_url=options.fixture_url,
        control_url=options.control_url,
        agent_host=HostOverTcp(host=options.agent_host, port=AGENT_PORT),
        agent_suite=options.agent_suite,
        # unhealthy or not: an optional service that is not healthy is only a warning of Compose's
        fault_proxy=FAULT_PROXY_ON_COMPOSE if FAULT_PROFILE in profiles else None,
        spans=COLLECTOR_SINK if OBSERVE_PROFILE in profiles else None,
        startup_seconds=STARTUP_S,
    )
    redactor = Redactor({})  # nobody told it any value: only what has the shape of a key is found
    with closing(Execution.of(order, suite=suite)) as execution:
        watch = Watch(end=execution.end)
        watch.start(stdin=None)
        execution.reach()
        with closing(RunDirectory.create(options.evidence, run_id=plan.run_id)) as run:
            plan = redactor.redact_record(plan)
            run.write_record(evidence.PLAN, plan)
            execution.run(started=lambda _: None, emit=lambda attempt: _append(run, attempt, redactor))
            if (count := execution.tracing.finish()) is not None:
                sys.stderr.write(told_spans(count))
            watch.stop()
            grading = grade_run(plan, run.path / evidence.ATTEMPTS)
            run.write_whole(evidence.RESULTS, grading.results_pieces())
            run.write_whole(evidence.JUNIT, grading.junit_pieces())
            with tempfile.TemporaryDirectory() as scratch:
                write_session_files(run, plan, suite=suite.root, scratch=Path(scratch))
    # the default folder is a mount: a person reads this on the host
    shown = f"evidence/{run.path.name}" if run.path.parent == MOUNTED_EVIDENCE else str(run.path)
    sys.stdout.write(summary_text(grading, run=shown, screen=PLAIN_SCREEN) + f"{shown}\n")
    return exit_of(grading)


def told_spans(count: SpanCount) -> str:
    """What became of the spans; by hand nobody compares them with the collector's file."""
    lost = f", which did not take {count.refused} of them: {count.trouble}" if count.trouble else ""
    return f"{count.made} spans went to {COLLECTOR}{lost}; it appends to {TRACES} of the checkout\n"


def plan_by_hand(suite: Suite, *, command: tuple[str, ...], profiles: tuple[str, ...] = ()) -> Plan:
    """All cases with the default agent.

    Raises LabError, ISOLATION_MISSING for cases that need a container, BAD_USAGE for faults that the agent cannot meet.
    """
    agent = resolve_agent(suite, name=None, model=None, prompt=None)
    cases = select_cases(suite)
    if needs := own_container_needs(cases.having("setup", "working_dir", "image")):
        why, next_step = "only labctl starts one", f"labctl run {suite.root}"
        raise no_container(needs, code=ErrorCode.ISOLATION_MISSING, why=why, next_step=next_step)
    if FAULT_PROFILE in profiles:
        refuse_faults_out_of_reach(agent, cases)
    conditions = conditions_of(suite, agent, backend="compose", limits=suite.settings.limits, profiles=profiles)
    return Plan(
        run_id=new_run_id(clock.now(), random_bytes(RANDOM_BYTES)),
        labctl=VERSION,
        command=command,
        suite=str(suite.root),
        agent=agent,
        conditions=with_fault_plan(conditions, suite.cases.having("faults")),
        capture="metadata",
        concurrency=len(os.sched_getaffinity(0)),
        planned_at=clock.now_at(),
        cases=planned_cases(suite, cases),
    )


def _append(run: RunDirectory, attempt: RunnerAttempt, redactor: Redactor) -> None:
    # rows first, as the driver does: a cut between the two leaves rows that nobody misses
    for row in attempt.journal:
        run.append(evidence.JOURNAL, redactor.redact_record(row).to_line())
    record = redactor.redact_record(attempt.record)
    run.append(evidence.ATTEMPTS, capture_attempt(record, level="metadata").to_line())
